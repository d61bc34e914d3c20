import {createHmac, hash as digestOf} from 'node:crypto'
import type {LogHead} from '../../csr/log-head.ts'
import type {Issuance} from './issuance.ts'

/** A head of another log, as the signers show it to each other. */
export interface KnownHead extends LogHead {
  /** The machine that writes that log. */
  server?: string
  /** When the line was new. */
  time?: string
  /** Only in the Lease: shows a signer which of the logs were its own. */
  seal?: string
}

/**
 * What is noted about the log itself: after a crash, that what it left of a line was cut off; that lines are authenticated
 * from here on; that the file before this one was moved away; that a backup was restored; that this signer took over, and where the
 * other logs ended then; that somebody has seen a line which is not in this log.
 */
export interface LogNote {
  decision: 'recovered' | 'keyed' | 'began' | 'restored' | 'took-over' | 'lost'
  reason: string
  /** Lines of other logs, or of this one, that must exist. */
  heads?: readonly KnownHead[]
}

export type LogContent = Issuance | LogNote

/** A line of the issuance log, as it is read back. */
export type LogEntry = {time: string} & LogContent & {
    /** The hash of the line before; zeros in the first one. */
    prev: string
    /** The HMAC-SHA-256 of this line up to here, with the key of the log; absent in lines of earlier versions. */
    mac?: string
    /** The SHA-256 of this line without its hash, in hexadecimal. */
    hash: string
  }

/** What the first line follows. */
export const NO_LINE = '0'.repeat(64)

/** The hash stands last, so that what it covers are the bytes before it, closed by a brace: nothing is encoded again. */
const HASH = /,"hash":"([0-9a-f]{64})"\}$/

const MAC = /,"mac":"([0-9a-f]{64})"\}$/

const sha256 = (text: string): string => digestOf('sha256', text)

/** A line, with its end, and its hash. */
export interface EncodedLine {
  line: string
  hash: string
}

export function encodeLine(
  time: Date,
  content: LogContent,
  prev: string,
  key: Buffer,
): EncodedLine {
  const said = JSON.stringify({time: time.toISOString(), ...content, prev})
  const covered = `${said.slice(0, -1)},"mac":"${macOf(said, key)}"}`
  const hash = sha256(covered)
  return {line: `${covered.slice(0, -1)},"hash":"${hash}"}\n`, hash}
}

export type LineVerdict = {entry: LogEntry} | {why: string}

const macOf = (text: string, key: Buffer): string =>
  createHmac('sha256', key).update(text).digest('hex')

/** Whether a whole line was written with the key: `wrong` was made without it, `none` is of an earlier version. */
export function macVerdict(line: string, key: Buffer): 'right' | 'wrong' | 'none' {
  const covered = `${line.replace(HASH, '')}}`
  const [suffix, mac] = MAC.exec(covered) ?? []
  if (suffix === undefined) return 'none'
  return macOf(`${covered.slice(0, -suffix.length)}}`, key) === mac ? 'right' : 'wrong'
}

/** Reads a line, without its end. Whether it follows the one before is for the caller to see. */
export function readLine(line: string): LineVerdict {
  const [suffix, hash] = HASH.exec(line) ?? []
  if (suffix === undefined) return {why: 'it is not a line of an issuance log'}
  if (sha256(`${line.slice(0, -suffix.length)}}`) !== hash) {
    return {why: 'it was changed: its hash is not that of what it says'}
  }
  try {
    return {entry: JSON.parse(line) as LogEntry}
  } catch {
    return {why: 'it is not JSON'}
  }
}
