import type {FileHandle} from 'node:fs/promises'
import {shellWord} from '../../client/printable.ts'
import type {LogHead} from '../../csr/log-head.ts'
import {TrustError, hasCode, messageOf} from '../../errors.ts'
import {lookAt, unreadable} from '../../fs/file-checks.ts'
import {NEWLINE, readFrom} from './log-bytes.ts'
import {MOST_BEFORE, beginningOf, withLog} from './log-heads.ts'
import type {LogKey} from './log-key.ts'
import {NO_LINE, macVerdict, readLine, type KnownHead, type LogNote} from './log-line.ts'
import {readLog} from './read-log.ts'

/** Where a log ends: the hash of its last whole line, and what stands behind that. */
export interface LogTail {
  hash: string
  /** The last whole line; undefined if there is none. */
  line: string | undefined
  /** Up to and with the last whole line, in bytes. */
  size: number
  /** What a crash left of lines that nobody was told of, in bytes. */
  torn: number
}

/** What is found when a log is opened, before anything is changed. */
export interface FoundLog extends LogTail {
  inode: bigint
}

/** The end of a log as this process has last seen it. */
export interface SeenEnd {
  hash: string
  inode: bigint
  /** Undefined if the log is empty, or its first line was changed. */
  head: LogHead | undefined
  /** The logs before that. */
  predecessors: readonly KnownHead[]
}

const FIRST_WINDOW = 64 * 1024
/** Far more than lines that are written at once. */
const LARGEST_WINDOW = 64 * 1024 * 1024

/** The last line that is whole, within bytes that begin anywhere; undefined if none ends there. */
function lastWhole(
  bytes: Buffer,
  beginsLine: boolean,
): {end: number; hash: string; line: string} | undefined {
  for (let end = bytes.lastIndexOf(NEWLINE); end >= 0;) {
    const before = end === 0 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1)
    if (before === -1 && !beginsLine) return undefined
    const line = bytes.toString('utf8', before + 1, end)
    const verdict = readLine(line)
    if ('entry' in verdict) return {end: end + 1, hash: verdict.entry.hash, line}
    end = before
  }
  return undefined
}

/** A write that a crash cut leaves half a line, or, on some file systems, blocks of zeros. */
const isTorn = (rest: Buffer): boolean =>
  rest.length > 0 && (rest[rest.length - 1] !== NEWLINE || rest.includes(0))

/**
 * Looks for the end of a log, from behind. Whole lines that are none of a log were not left by a crash: somebody has
 * written there, and nothing is added behind that.
 */
export async function readTail(handle: FileHandle, path: string, size: number): Promise<LogTail> {
  for (let window = FIRST_WINDOW; window <= LARGEST_WINDOW; window *= 4) {
    const start = Math.max(0, size - window)
    const bytes = await readFrom(handle, start, size)
    const last = lastWhole(bytes, start === 0)
    if (!last && start > 0) continue
    const end = last?.end ?? 0
    const rest = bytes.subarray(end)
    if (rest.length > 0 && !isTorn(rest)) break
    const {hash = NO_LINE, line} = last ?? {}
    return {hash, line, size: start + end, torn: rest.length}
  }
  throw new TrustError('ISSUANCE_LOG_BROKEN', `the end of the issuance log ${path} was changed`, {
    hints: [
      look(path),
      'if a server writes it, move it away to begin a new one: until then no certificate is issued',
    ],
  })
}

const look = (path: string): string =>
  `look at it with "trustadm certificate log --verify ${shellWord(path)}"`

/** The last line of a log; undefined if it has none. */
export async function readHead(path: string): Promise<LogHead | undefined> {
  if (!(await lookAt(path))) throw unreadable(path, new Error('there is no such file'))
  return await withLog(path, async (handle) => {
    const {hash, size} = await readTail(handle, path, (await handle.stat()).size)
    if (size === 0) return undefined
    const {chain} = await beginningOf(handle)
    if (chain !== undefined) return {chain, size, hash}
    throw new TrustError('ISSUANCE_LOG_BROKEN', `the first line of ${path} was changed`, {
      hints: [look(path)],
    })
  })
}

/** In the message itself: a server's log shows no hints. */
const NEXT = 'no certificate is issued until the log is put back, or moved away to begin a new one'

const tampered = (path: string, why: string): TrustError =>
  new TrustError('ISSUANCE_LOG_BROKEN', `the issuance log ${path} ${why}; ${NEXT}`, {
    hints: [`${look(path)}, and compare it with a copy`],
    facts: {file: path},
  })

/** Checks the whole log if somebody has touched it while this process had it: what was written must be in it. */
async function requireWritten(path: string, head: string, key: Buffer): Promise<void> {
  try {
    await readLog(path, {expectedHead: head, key})
  } catch (error) {
    if (!hasCode(error, 'ISSUANCE_LOG_BROKEN')) throw error
    throw tampered(path, `was cut off or rewritten while it was in use: ${messageOf(error)}`)
  }
}

/** Refuses a log that is not as it was written, and returns what to note in it. */
export async function checkFound(
  path: string,
  {line, torn, inode}: FoundLog,
  {seen, key, isNew}: LogKey & {seen: SeenEnd | undefined},
): Promise<LogNote[]> {
  const notes: LogNote[] = []
  const isEmpty = line === undefined && torn === 0
  const hasWritten = seen !== undefined && seen.hash !== NO_LINE
  if (hasWritten && isEmpty && seen.inode !== inode) {
    const reason = `the log before this one is no longer in its place; its last line has the hash ${seen.hash}`
    const heads = [...(seen.head ? [seen.head] : []), ...seen.predecessors].slice(0, MOST_BEFORE)
    return [{decision: 'began', reason, heads}]
  }
  if (hasWritten) await requireWritten(path, seen.hash, key)
  const mac = line === undefined ? 'right' : macVerdict(line, key)
  if (mac === 'wrong' || (mac === 'none' && !isNew)) {
    throw tampered(path, 'ends with a line that was not written with its key')
  }
  if (torn > 0) {
    const reason = `${torn} bytes that an interrupted write had left were cut off`
    notes.push({decision: 'recovered', reason})
  }
  if (mac === 'none') {
    notes.push({decision: 'keyed', reason: 'from here on lines are authenticated with a key'})
  }
  return notes
}
