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

/** Checks the chain, and that the line with the hash `expectedHead` is in it. Throws ISSUANCE_LOG_BROKEN. */
export async function verifyIssuances(
  file: string,
  expectedHead: string | undefined,
  warn: Warn,
): Promise<IssuanceReport> {
  const {count, head, torn} = await readLog(file, {expectedHead})
  warnTorn(file, torn, warn)
  return {file, count, head, verified: true}
}
