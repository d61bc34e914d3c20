import {closeSync, openSync, writeSync} from 'node:fs'
import {constants} from 'node:os'
import {open, type RootDatabase} from 'lmdb'
import {isDiskFull, messageOf, TrustError} from '../errors.ts'

/**
 * In bytes, far more than a store takes; it is not memory. When a map has become too small, the library makes one twice as
 * large and keeps the old one until the file is closed. Pages that were read through both would count twice as resident.
 */
const ADDRESS_SPACE = 64 * 2 ** 30

/**
 * Opens an LMDB file. In the default mode of this library a commit is visible, and may be acknowledged, before it is synced.
 * With `overlappingSync` off, LMDB itself orders a commit: it writes the pages where no snapshot needs what was there,
 * syncs them, and only then writes the meta page that makes them count, through a descriptor opened with O_DSYNC. The
 * library settles the promise when that write has returned. So what is acknowledged is on the disk, and a crash at any point
 * leaves the state before the commit or after it.
 */
export function openLmdb(file: string): RootDatabase<Buffer, Buffer> {
  requireOpenable(file)
  return open<Buffer, Buffer>(file, {
    overlappingSync: false,
    // Commits are batched in our code. The library would keep its own promise for each, and crash if it is rejected.
    eventTurnBatching: false,
    noSubdir: true,
    mapSize: ADDRESS_SPACE,
    keyEncoding: 'binary',
    encoding: 'binary',
  })
}

/** The library crashes if LMDB cannot open its three descriptors. So this is tried first, where it is an ordinary error. */
export function requireOpenable(file: string): void {
  const descriptors: number[] = []
  try {
    for (const path of [file, file, `${file}-lock`]) descriptors.push(openSync(path, 'r+'))
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

const NAMES = new Map<unknown, string>(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
)

/** LMDB gives the number of a system error, Node.js its name. */
function named(error: unknown): unknown {
  const code = NAMES.get((error as {code?: unknown} | null)?.code)
  return code === undefined ? error : Object.assign(new Error(messageOf(error)), {code})
}

/** The error for a failed commit, in one sentence. */
export function writeFailed(error: unknown): TrustError {
  const cause = named(error)
  const full = isDiskFull(cause)
  // LMDB adds the position and sizes of its buffers, which helps nobody.
  const [reason = ''] = messageOf(cause).split(`: ${LMDB_DETAIL}`)
  return new TrustError(
    'STORE_WRITE_FAILED',
    `the store cannot write: ${full ? 'the disk is full' : reason}`,
    {
      cause,
      hints: [
        full
          ? 'nothing was changed: free some space on the disk of the server, then try again'
          : 'nothing was changed: check the disk of the server, then try again',
      ],
    },
  )
}

/** The library rejects with a promise of the reason. */
export async function commitError(error: unknown): Promise<unknown> {
  const reason = (error as {commitError?: Promise<never>} | undefined)?.commitError
  if (!reason) return error
  try {
    return await reason
  } catch (cause) {
    return cause
  }
}

const LMDB_DETAIL = 'Attempting to write page'
/** It asks for 100; no allocator on a 64-bit system gives less than 104. */
const LMDB_BUFFER = 104

/**
 * If a write fails, LMDB prints numbers into a small buffer, some of them from uninitialized memory. If they are long, it
 * writes past the end of the buffer.
 */
export function hasOverrun(cause: unknown): boolean {
  const text = messageOf(cause)
  const start = text.indexOf(LMDB_DETAIL)
  return start >= 0 && text.length - start >= LMDB_BUFFER
}

/**
 * After that the memory of the process cannot be trusted, and the C library ends the process sooner or later. The commit is
 * not on the disk: the next start finds everything that was acknowledged, and nothing else.
 */
export function endIfOverrun(cause: unknown): void {
  if (!hasOverrun(cause)) return
  try {
    writeSync(2, `error: ${writeFailed(cause).message}; this process ends and must be restarted\n`)
  } catch {
    // The log may be on the same disk.
  }
  process.kill(process.pid, 'SIGABRT')
}
