import {constants} from 'node:fs'
import {open} from 'node:fs/promises'
import {resolve} from 'node:path'
import {unwritable} from './file-checks.ts'
import {StagedFile} from './files.ts'

const {O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY} = constants
const OWNER_ONLY = 0o600

/**
 * Like `writeFileSafely`, for content that does not fit in memory: `write` gets a function that appends. The file has its name only
 * when all of it is on the disk; if `write` throws, nothing is left. `writer` is the id of a lock that the caller holds: only so can it
 * know that what it left before, when it was killed, is no longer written.
 */
export async function writeStreamSafely<Result>(
  path: string,
  write: (append: (bytes: Uint8Array) => Promise<void>) => Promise<Result>,
  writer?: string,
): Promise<Result> {
  const target = resolve(path)
  const staged = await StagedFile.create(target, writer)
  try {
    const result = await writeNew(staged.path, target, write)
    await staged.commit().catch((error: unknown) => {
      throw unwritable(target, error)
    })
    return result
  } finally {
    await staged.close()
  }
}

async function writeNew<Result>(
  path: string,
  target: string,
  write: (append: (bytes: Uint8Array) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const fail = (error: unknown): never => {
    throw unwritable(target, error)
  }
  const handle = await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, OWNER_ONLY).catch(fail)
  try {
    await handle.chmod(OWNER_ONLY)
    const result = await write(async (bytes) => {
      for (let done = 0; done < bytes.length;) {
        done += (await handle.write(bytes, done).catch(fail)).bytesWritten
      }
    })
    await handle.sync().catch(fail)
    return result
  } finally {
    await handle.close()
  }
}
