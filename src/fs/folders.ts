import type {Stats} from 'node:fs'
import {chmod, mkdir, open, readlink} from 'node:fs/promises'
import {dirname, resolve} from 'node:path'
import {systemCode} from '../errors.ts'
import {isOurs, lookAt, missing, OTHERS, unsafe, unwritable} from './file-checks.ts'

const PRIVATE = 0o700
const STICKY = 0o1000

export interface FolderOptions {
  /** The mode of a new folder and of its new parents. */
  mode?: number
  /** Whether to remove other users' access to an existing folder. */
  repair?: boolean
}

/** A link in the path may belong to root or to us; one of another user is a trap. */
async function requireOwnLinks(path: string): Promise<void> {
  for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
    const stats = await lookAt(above)
    if (stats?.isSymbolicLink() && !isOurs(stats)) {
      throw unsafe(above, 'it is a symbolic link of another user')
    }
  }
}

/** Refuses a link, anything that is not a folder, and a folder of another user. */
export async function requireOwnFolder(path: string, stats: Stats): Promise<void> {
  if (stats.isSymbolicLink()) {
    const target = resolve(dirname(path), await readlink(path))
    throw unsafe(path, 'it is a symbolic link', `name the folder itself: ${target}`)
  }
  if (!stats.isDirectory()) throw unsafe(path, 'it is not a folder', 'choose another folder')
  if (!isOurs(stats)) {
    throw unsafe(
      path,
      'it belongs to another user',
      'choose another folder, or change its owner with "chown"',
    )
  }
}

/** Refuses a folder that is a link, or that another user can change. */
export async function requireSafeFolder(path: string): Promise<void> {
  const folder = resolve(path)
  try {
    await requireOwnLinks(folder)
    const stats = await lookAt(folder)
    if (!stats) throw missing(folder)
    await requireOwnFolder(folder, stats)
  } catch (error) {
    throw unwritable(folder, error)
  }
}

async function make(folder: string, mode: number): Promise<void> {
  const parent = dirname(folder)
  if (!(await lookAt(parent))) await make(parent, mode)
  try {
    await mkdir(folder, mode)
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return
    throw error
  }
  // Not with mkdir, whose mode is reduced by the umask.
  await chmod(folder, mode)
  await syncFolder(parent)
}

/**
 * Creates the folder if it does not exist, for its owner only, whatever the umask. An existing one is checked, and others
 * lose access to it; a folder that is shared on purpose, such as /tmp, is refused.
 */
export async function ensureFolder(
  path: string,
  {mode = PRIVATE, repair = true}: FolderOptions = {},
): Promise<void> {
  const folder = resolve(path)
  try {
    await requireOwnLinks(folder)
    if (!(await lookAt(folder))) await make(folder, mode)
    await requireSafeFolder(folder)
    const stats = await lookAt(folder)
    if (!repair || !stats || (stats.mode & OTHERS & ~mode) === 0) return
    if ((stats.mode & STICKY) !== 0 || folder === dirname(folder)) {
      throw unsafe(folder, 'it is shared with other users', 'choose another folder')
    }
    await chmod(folder, stats.mode & mode & 0o777)
  } catch (error) {
    throw unwritable(folder, error)
  }
}

/** Syncs the folder, so that renames in it survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
