import {constants} from 'node:fs'
import {open, rm, type FileHandle} from 'node:fs/promises'
import {dirname} from 'node:path'
import {systemCode} from '../errors.ts'
import {lookAt, unwritable} from './file-checks.ts'
import {syncFolder} from './folders.ts'

const {O_NOFOLLOW, O_RDWR} = constants

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, O_RDWR | O_NOFOLLOW)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw unwritable(path, error)
  }
}

async function overwrite(handle: FileHandle): Promise<void> {
  const {size} = await handle.stat()
  await handle.write(Buffer.alloc(size), 0, size, 0)
  await handle.sync()
}

/**
 * Removes a secret, and overwrites its bytes first. File systems that never write in place, and disks that move blocks, may still have a
 * copy: only the file is certain to be gone.
 */
export async function removeSecret(path: string): Promise<void> {
  const handle = await openIfThere(path)
  if (!handle) return
  try {
    await overwrite(handle)
    await rm(path, {force: true})
    await syncFolder(dirname(path))
  } catch (error) {
    throw unwritable(path, error)
  } finally {
    await handle.close()
  }
}

/** Lets `replace` put another file in the place of a secret, then overwrites the bytes of the old one. */
export async function replaceSecret(path: string, replace: () => Promise<void>): Promise<void> {
  const handle = await openIfThere(path)
  try {
    const before = await handle?.stat()
    await replace()
    const after = await lookAt(path)
    if (handle && before?.ino !== after?.ino) await overwrite(handle)
  } finally {
    await handle?.close()
  }
}
