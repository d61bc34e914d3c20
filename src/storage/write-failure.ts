import {writeSync} from 'node:fs'
import {constants} from 'node:os'
import {messageOf, systemCode, TrustError} from '../errors.ts'

const {ENOSPC, EDQUOT, EFBIG} = constants.errno
const FULL = new Set<unknown>(['ENOSPC', 'EDQUOT', 'EFBIG', ENOSPC, EDQUOT, EFBIG])

/** Node.js gives the name of a system error, LMDB its number. */
function isFull(cause: unknown): boolean {
  return FULL.has(systemCode(cause) ?? (cause as {code?: unknown} | null)?.code)
}

/** The error for a failed commit, in one sentence. */
export function writeFailed(cause: unknown): TrustError {
  const full = isFull(cause)
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
