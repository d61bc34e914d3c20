import {constants, fstatSync, lstatSync, type BigIntStats} from 'node:fs'
import {open, type FileHandle} from 'node:fs/promises'
import {dirname, resolve} from 'node:path'
import type {LogHead} from '../../csr/log-head.ts'
import {TrustError, systemCode} from '../../errors.ts'
import {requirePlainFile, unsafe, unwritable} from '../../fs/file-checks.ts'
import {requireSafeFolder, syncFolder} from '../../fs/folders.ts'
import {sleep} from '../../runtime.ts'
import {beginningOf, beginningWith, type LogBeginning} from './log-heads.ts'
import type {EncodedLine, KnownHead} from './log-line.ts'
import {readTail, type FoundLog, type LogTail} from './log-tail.ts'

const {O_APPEND, O_CREAT, O_DSYNC, O_NOFOLLOW, O_NONBLOCK, O_RDWR} = constants
/**
 * Without O_NONBLOCK, opening a planted FIFO would wait without end. With O_DSYNC a write returns once it is on the disk: one job for
 * the thread pool instead of two, and one turn of a busy event loop less until a certificate is published.
 */
const FLAGS = O_APPEND | O_CREAT | O_DSYNC | O_NOFOLLOW | O_NONBLOCK | O_RDWR
const OWNER_ONLY = 0o600
/** Far longer than a write of a few lines takes, in milliseconds. */
const SETTLING = 100

/** A log that is open for appending, with what is behind its last whole line cut off. */
export interface OpenLog {
  /** The hash of the last line. */
  readonly hash: string
  /** The last line; undefined if there is none, or if the first line was changed. */
  readonly head: LogHead | undefined
  /** The logs that it continues. */
  readonly predecessors: readonly KnownHead[]
  /** What was cut off when it was opened, in bytes. */
  readonly torn: number
  /** Which file it is. */
  readonly inode: bigint
  /**
   * Writes lines to the disk. Where that fails nothing is added, or where another process wrote at the same time nothing
   * that can be counted on; the log must be opened again.
   */
  append(lines: readonly EncodedLine[]): Promise<void>
  /** Whether the file is still the one at its place, and nobody else has touched it: a rewrite of equal length shows in its time. */
  isCurrent(): boolean
  close(): Promise<void>
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, FLAGS, OWNER_ONLY)
  } catch (error) {
    if (systemCode(error) === 'ELOOP') throw unsafe(path, 'it is a symbolic link')
    throw error
  }
}

/** Writes at the end, which was at `size`, to the disk. What is left of it where that fails is cut off, unless another has written too. */
async function writeAt(handle: FileHandle, bytes: Buffer, size: number): Promise<void> {
  let written = 0
  try {
    while (written < bytes.length) {
      written += (await handle.write(bytes, written)).bytesWritten
    }
  } catch (error) {
    // What cannot be cut off now is cut off when the log is opened again.
    const end = await handle.stat().catch(() => undefined)
    if (end?.size === size + written) await handle.truncate(size).catch(() => undefined)
    throw error
  }
}

/** Half a line may be one that another process is writing just now: only what stays half is cut off. */
async function readSettledTail(handle: FileHandle, path: string): Promise<LogTail> {
  for (;;) {
    const {size} = await handle.stat()
    const tail = await readTail(handle, path, size)
    if (tail.torn === 0) return tail
    await sleep(SETTLING)
    if ((await handle.stat()).size === size) return tail
  }
}

/** Opens the log and makes it whole. Lines that are whole are never touched, and nothing is where `check` throws. */
export async function openLog(
  file: string,
  check: (found: FoundLog) => Promise<void> | void = () => undefined,
): Promise<OpenLog> {
  const path = resolve(file)
  await requireSafeFolder(dirname(path))
  let handle: FileHandle | undefined
  try {
    handle = await openFile(path)
    const stats = await handle.stat()
    requirePlainFile(path, stats)
    await handle.chmod(OWNER_ONLY)
    const tail = await readSettledTail(handle, path)
    const {ino: inode} = await handle.stat({bigint: true})
    await check({...tail, inode})
    if (tail.torn > 0) await handle.truncate(tail.size)
    await handle.sync()
    if (stats.size === 0) await syncFolder(dirname(path))
    const begun = {...tail, ...(await beginningOf(handle))}
    return openedAt(path, handle, begun, await handle.stat({bigint: true}))
  } catch (error) {
    await handle?.close()
    throw unwritable(path, error)
  }
}

function lookAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, {bigint: true})
  } catch {
    return undefined
  }
}

function openedAt(
  path: string,
  handle: FileHandle,
  tail: LogTail & LogBeginning,
  stats: BigIntStats,
): OpenLog {
  let {hash, size, chain, predecessors} = tail
  let changed = stats.ctimeNs
  // A look at a file costs microseconds here, and many times that on another thread; there are four looks for each write.
  const isInPlace = ({ino, dev, size: length}: BigIntStats) => {
    const there = lookAt(path)
    return there?.ino === ino && there.dev === dev && length === BigInt(size)
  }
  const isCurrent = () => {
    const own = fstatSync(handle.fd, {bigint: true})
    return own.ctimeNs === changed && isInPlace(own)
  }
  return {
    get hash() {
      return hash
    },
    get head() {
      return chain === undefined ? undefined : {chain, size, hash}
    },
    get predecessors() {
      return predecessors
    },
    torn: tail.torn,
    inode: stats.ino,
    async append(lines) {
      const bytes = Buffer.from(lines.map(({line}) => line).join(''))
      try {
        await writeAt(handle, bytes, size)
      } catch (error) {
        throw unwritable(path, error)
      }
      if (size === 0) ({chain, predecessors} = beginningWith(lines[0]?.line.trimEnd()))
      hash = lines.at(-1)?.hash ?? hash
      size += bytes.length
      const own = fstatSync(handle.fd, {bigint: true})
      changed = own.ctimeNs
      if (!isInPlace(own)) throw writtenByAnother(path)
    },
    isCurrent,
    close: () => handle.close(),
  }
}

const writtenByAnother = (path: string): TrustError =>
  new TrustError('CONFLICT', `another process writes to the issuance log ${path}`, {
    hints: ['give each signer a log of its own'],
  })

/** For a log that has been closed for good. */
export const closedLog = (): TrustError =>
  new TrustError('FILE_UNWRITABLE', 'the issuance log is closed')
