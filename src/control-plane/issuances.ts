import {TrustError} from '../errors.ts'
import {readLogKey} from '../controllers/signing/log-key.ts'
import type {LogEntry} from '../controllers/signing/log-line.ts'
import {
  ObtainedCertificates,
  type JoinCredential,
  type ObtainedCertificate,
} from '../controllers/signing/obtained-by.ts'
import {readIssuances, readLog, warnTorn, type Warn} from '../controllers/signing/read-log.ts'

/** An issuance log: its lines, or the result of a check. */
export interface IssuanceReport {
  file: string
  /** How many lines it has. */
  count: number
  /** The hash of the last line. Stored on another machine, it shows later whether lines were cut off. */
  head: string
  /** Only if the chain was checked; a broken one is an error. */
  verified?: true
  /** Whether its lines were checked with the key of the log. Only if the chain was checked. */
  authenticated?: boolean
  /** Absent if the chain was checked. */
  entries?: LogEntry[]
}

/** All lines. If the chain is broken, they are still shown, with a warning about the first break. */
export async function listIssuances(file: string, warn: Warn): Promise<IssuanceReport> {
  const entries: LogEntry[] = []
  const {count, head} = await readIssuances(file, (entry) => entries.push(entry), warn)
  return {file, count, head, entries}
}

export interface VerifyOptions {
  /** The hash of a line that must be in the log. */
  expectedHead?: string | undefined
  /** The file of its key. */
  keyFile: string
  /** Whether the log belongs to a control plane on this machine, which always has a key. */
  requiresKey: boolean
  warn: Warn
}

const noKey = (file: string, keyFile: string): TrustError =>
  new TrustError(
    'ISSUANCE_LOG_BROKEN',
    `${file} cannot be checked: its key ${keyFile} is missing`,
    {
      hints: [
        'restore the key from a backup',
        'to check only the hashes, which anyone can compute, use --file',
      ],
      facts: {file, key: keyFile},
    },
  )

/** Checks the chain, the key that it was written with, and that the line with the hash `expectedHead` is in it. Throws ISSUANCE_LOG_BROKEN. */
export async function verifyIssuances(
  file: string,
  {expectedHead, keyFile, requiresKey, warn}: VerifyOptions,
): Promise<IssuanceReport> {
  const key = await readLogKey(keyFile)
  let isKeyed = false
  const onEntry = ({mac}: LogEntry) => (isKeyed ||= mac !== undefined)
  const {count, head, torn} = await readLog(file, {expectedHead, key, onEntry})
  if (!key && isKeyed) {
    if (requiresKey) throw noKey(file, keyFile)
    warn(`there is no key ${keyFile}: anyone who can write the file could have written all of it`)
  }
  warnTorn(file, torn, warn)
  return {file, count, head, verified: true, authenticated: key !== undefined}
}

/** The certificates that were obtained by a credential, and by which nodes. */
export interface Obtained {
  /** The issuance log that was read. */
  file: string
  nodes: string[]
  certificates: ObtainedCertificate[]
}

/** Which machines and certificates came by a credential or a bootstrap token, oldest first, according to an issuance log. Warns if the log is broken. */
export async function obtainedBy(
  file: string,
  credential: JoinCredential,
  warn: Warn,
): Promise<Obtained> {
  const collected = new ObtainedCertificates(credential)
  await readIssuances(file, collected.see, warn)
  const {found: certificates} = collected
  const nodes = [...new Set(certificates.flatMap(({node}) => node ?? []))].sort()
  return {file, nodes, certificates}
}
