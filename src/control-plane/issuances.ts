import {TrustError} from '../errors.ts'
import {readLogKey} from '../controllers/signing/log-key.ts'
import type {LogEntry} from '../controllers/signing/log-line.ts'
import {readLog} from '../controllers/signing/read-log.ts'

/** An issuance log, with its lines or checked. */
export interface IssuanceReport {
  file: string
  /** How many lines it has. */
  count: number
  /** The hash of the last line: kept elsewhere, it shows later whether lines were cut off. */
  head: string
  /** There only where the chain was checked; a broken one is an error. */
  verified?: true
  /** Whether its lines were checked with the key of the log; there only where the chain was checked. */
  authenticated?: boolean
  /** Absent where the chain was checked. */
  entries?: LogEntry[]
}

export type Warn = (line: string) => void

const warnTorn = (file: string, torn: number, warn: Warn): void => {
  if (torn === 0) return
  warn(`${file} ends with ${torn} bytes of a line that is being written, or that a crash cut`)
}

/** All lines. Where the chain is broken, they are shown all the same, with a warning about the first break. */
export async function listIssuances(file: string, warn: Warn): Promise<IssuanceReport> {
  const entries: LogEntry[] = []
  const breaks: string[] = []
  const {count, head, torn} = await readLog(file, {
    onEntry: (entry) => entries.push(entry),
    onBroken: ({message}) => breaks.push(message),
  })
  for (const first of breaks.slice(0, 1)) warn(`the log is broken: ${first}`)
  warnTorn(file, torn, warn)
  return {file, count, head, entries}
}

export interface VerifyOptions {
  /** The hash of a line that has to be in the log. */
  expectedHead?: string | undefined
  /** The file of its key. */
  keyFile: string
  /** Whether the log is of a control plane on this machine, which has a key from its first start on. */
  requiresKey: boolean
  warn: Warn
}

const noKey = (file: string, keyFile: string): TrustError =>
  new TrustError(
    'ISSUANCE_LOG_BROKEN',
    `${file} cannot be checked: its key ${keyFile} is missing`,
    {
      hints: [
        'put the key back from a backup',
        'to check only the hashes, which anybody can compute, name the log with --file',
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
    warn(`there is no key ${keyFile}: whoever can write the file could have written all of it`)
  }
  warnTorn(file, torn, warn)
  return {file, count, head, verified: true, authenticated: key !== undefined}
}
