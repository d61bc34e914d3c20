import {createHash} from 'node:crypto'
import type {Issuance} from './issuance.ts'

/** Noted after a crash: what it left of a line was cut off. */
export interface Recovery {
  decision: 'recovered'
  reason: string
}

export type LogContent = Issuance | Recovery

/** A line of the issuance log, as it is read back. */
export type LogEntry = {time: string} & LogContent & {
    /** The hash of the line before; zeros in the first one. */
    prev: string
    /** The SHA-256 of this line without its hash, in hexadecimal. */
    hash: string
  }

/** What the first line follows. */
export const NO_LINE = '0'.repeat(64)

/** The hash stands last, so that what it covers are the bytes before it, closed by a brace: nothing has to be encoded anew. */
const HASH = /,"hash":"([0-9a-f]{64})"\}$/

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A line, with its end, and its hash. */
export function encodeLine(
  time: Date,
  content: LogContent,
  prev: string,
): {line: string; hash: string} {
  const covered = JSON.stringify({time: time.toISOString(), ...content, prev})
  const hash = sha256(covered)
  return {line: `${covered.slice(0, -1)},"hash":"${hash}"}\n`, hash}
}

export type LineVerdict = {entry: LogEntry} | {why: string}

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
