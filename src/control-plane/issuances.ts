import {shellWord} from '../client/printable.ts'
import {NamedHeads, requireAgreement, type CheckedLog} from '../controllers/signing/cross-check.ts'
import {readLogKey} from '../controllers/signing/log-key.ts'
import type {KnownHead, LogEntry} from '../controllers/signing/log-line.ts'
import {readHead} from '../controllers/signing/log-tail.ts'
import {
  ObtainedCertificates,
  type JoinCredential,
  type ObtainedCertificate,
} from '../controllers/signing/obtained-by.ts'
import {
  notThere,
  readIssuances,
  readLog,
  warnTorn,
  type Warn,
} from '../controllers/signing/read-log.ts'
import {formatHead} from '../csr/log-head.ts'
import {TrustError} from '../errors.ts'

/** An issuance log. */
interface LogReport {
  file: string
  /** How many lines it has. */
  count: number
  /** The hash of the last line. Stored on another machine, it shows later whether lines were cut off. */
  head: string
}

export interface IssuanceList extends LogReport {
  entries: LogEntry[]
}

/** A log whose chain is unbroken; a broken one is an error. */
export interface VerifiedLog extends LogReport {
  verified: true
  /** Whether its lines were checked with the key of the log. */
  authenticated: boolean
}

/** All lines. If the chain is broken, they are still shown, with a warning about the first break. */
export async function listIssuances(file: string, warn: Warn): Promise<IssuanceList> {
  const entries: LogEntry[] = []
  const {count, head} = await readIssuances(file, (entry) => entries.push(entry), warn)
  return {file, count, head, entries}
}

/** A log to check. */
export interface LogToVerify {
  file: string
  /** The file of its key. */
  keyFile: string
  /** Whether the log belongs to a control plane on this machine, which always has a key. */
  requiresKey: boolean
}

export interface VerifyOptions {
  /** The hash of a line that must be in one of the logs. */
  expectedHead?: string | undefined
  warn: Warn
}

/** The result of a check of several logs. */
export interface VerifiedLogs {
  verified: true
  logs: VerifiedLog[]
  /** The newest lines that these logs name of others, which were not given. */
  others: KnownHead[]
}

/** The result of a check of one log. */
export type VerifiedAlone = VerifiedLog & Pick<VerifiedLogs, 'others'>

const noKey = (file: string, keyFile: string): TrustError =>
  new TrustError(
    'ISSUANCE_LOG_BROKEN',
    `${file} cannot be checked: its key ${keyFile} is missing`,
    {
      hints: [
        'restore the key from a backup',
        `to check only the hashes, which anyone can compute, run "trustadm certificate log --verify ${shellWord(file)}"`,
      ],
      facts: {file, key: keyFile},
    },
  )

/**
 * Checks each chain and the key that it was written with, that what the logs name of each other is there, and that one has the line
 * with the hash `expectedHead`. Throws ISSUANCE_LOG_BROKEN.
 */
export async function verifyIssuances(
  logs: readonly LogToVerify[],
  {expectedHead, warn}: VerifyOptions,
): Promise<VerifiedLogs> {
  const named = new NamedHeads()
  const checked: CheckedLog[] = []
  const reports: VerifiedLog[] = []
  let isExpectedThere = expectedHead === undefined
  for (const {file, keyFile, requiresKey} of logs) {
    const key = await readLogKey(keyFile)
    let isKeyed = false
    const onEntry = (entry: LogEntry, line: number) => {
      isKeyed ||= entry.mac !== undefined
      isExpectedThere ||= entry.hash === expectedHead
      named.see(file, entry, line)
    }
    const summary = await readLog(file, {key, onEntry})
    if (!key && isKeyed) {
      if (requiresKey) throw noKey(file, keyFile)
      warn(`there is no key ${keyFile}: anyone who can write the file could have written all of it`)
    }
    warnTorn(file, summary.torn, warn)
    const {count, head} = summary
    checked.push({file, ...summary})
    reports.push({file, count, head, verified: true, authenticated: key !== undefined})
  }
  const others = await requireAgreement(checked, named.all)
  if (isExpectedThere) return {verified: true, logs: reports, others}
  throw notThere(
    logs.map(({file}) => file),
    expectedHead ?? '',
  )
}

/** The newest line of a log. */
export interface NewestHead {
  file: string
  /** With the log that it is of and its place there; null if the log is empty. */
  head: string | null
}

/** The newest lines of logs, which are not checked for that. */
export const newestHeads = async (files: readonly string[]): Promise<NewestHead[]> =>
  await Promise.all(
    files.map(async (file) => {
      const head = await readHead(file)
      return {file, head: head ? formatHead(head) : null}
    }),
  )

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
