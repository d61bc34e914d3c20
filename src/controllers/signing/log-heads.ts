import {createHmac, timingSafeEqual} from 'node:crypto'
import {constants} from 'node:fs'
import {open, type FileHandle} from 'node:fs/promises'
import {formatHead, formatSealed, type LogHead, type SealedHead} from '../../csr/log-head.ts'
import {systemCode} from '../../errors.ts'
import {unreadable} from '../../fs/file-checks.ts'
import {firstLine, lineEndingAt} from './log-bytes.ts'
import {readLine, type KnownHead, type LogEntry} from './log-line.ts'

/** Where a head is: in the log, nowhere in it, or it is of another log. */
export type HeadPlace = 'there' | 'cut' | 'changed' | 'other log'

const SEAL_LENGTH = 32
/** How many logs before it one names, the newest: nodes may have seen lines of them. */
export const MOST_BEFORE = 256

const sealOf = (head: LogHead, key: Buffer): string =>
  createHmac('sha256', key)
    .update(`head ${formatHead(head)}`)
    .digest('hex')
    .slice(0, SEAL_LENGTH)

/** A head as it is given to nodes. */
export const sealHead = (head: LogHead, key: Buffer): string =>
  formatSealed({...head, seal: sealOf(head, key)})

/** Whether a head was given out by whoever has the key. */
export const isSealed = (head: SealedHead, key: Buffer): boolean => {
  const [expected, given] = [Buffer.from(sealOf(head, key)), Buffer.from(head.seal)]
  return expected.length === given.length && timingSafeEqual(expected, given)
}

const entryIn = (line: string | undefined): LogEntry | undefined => {
  const verdict = line === undefined ? undefined : readLine(line)
  return verdict && 'entry' in verdict ? verdict.entry : undefined
}

/** How a log begins. */
export interface LogBeginning {
  /** Which log it is: the hash of its first line. Undefined if it is empty, or if that line was changed. */
  chain: string | undefined
  /** The logs that it continues: they were moved away while their signer ran. */
  predecessors: readonly KnownHead[]
  /** All that its first line names. */
  named: readonly KnownHead[]
}

/** How a log begins whose first line this is, without its end. */
export function beginningWith(line: string | undefined): LogBeginning {
  const first = entryIn(line)
  const named = (first && 'heads' in first ? first.heads : undefined) ?? []
  return {chain: first?.hash, named, predecessors: first?.decision === 'began' ? named : []}
}

export const beginningOf = async (handle: FileHandle): Promise<LogBeginning> =>
  beginningWith(await firstLine(handle))

/** Reads from a log; undefined if there is none. */
export async function withLog<Result>(
  path: string,
  read: (handle: FileHandle) => Promise<Result>,
): Promise<Result | undefined> {
  let handle: FileHandle | undefined
  try {
    // Without O_NONBLOCK, opening a planted FIFO would wait without end.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return await read(handle)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw unreadable(path, error)
  } finally {
    await handle?.close()
  }
}

/** Looks for a head. Reads two lines, however long the log is: where the line must end is in the head. */
export async function findHead(path: string, {chain, size, hash}: LogHead): Promise<HeadPlace> {
  const place = await withLog(path, async (handle): Promise<HeadPlace> => {
    if ((await beginningOf(handle)).chain !== chain) return 'other log'
    if ((await handle.stat()).size < size) return 'cut'
    return entryIn(await lineEndingAt(handle, size))?.hash === hash ? 'there' : 'changed'
  })
  return place ?? 'other log'
}

/** Whether a log continues another one; undefined if that may be so, and be forgotten. */
export async function continues(path: string, chain: string): Promise<boolean | undefined> {
  const {predecessors} = (await withLog(path, beginningOf)) ?? {predecessors: []}
  if (predecessors.some((head) => head.chain === chain)) return true
  return predecessors.length < MOST_BEFORE ? false : undefined
}
