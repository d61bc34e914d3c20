import {constants, existsSync, type Stats} from 'node:fs'
import {chmod, mkdir, open, readlink, type FileHandle} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import {systemCode} from '../errors.ts'
import {isOurs, lookAt, missing, OTHERS, unsafe, unwritable} from './file-checks.ts'

const PRIVATE = 0o700
const STICKY = 0o1000
const GROUP_WRITE = 0o020
const OTHERS_WRITE = 0o002
/** As in the kernel. */
const MOST_LINKS = 40
export const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

export interface FolderOptions {
  /** The mode of a new folder and of its new parents. */
  mode?: number
  /** Whether to remove other users' access to an existing folder. */
  repair?: boolean
}

let warn: (line: string) => void = () => undefined
const warned = new Set<string>()

/** Where warnings about folders go from now on; each folder is named once. */
export const onFolderWarning = (listener: (line: string) => void): void => {
  warn = listener
}

/** Whoever may write to a folder may put something else in the place of what is in it. The sticky bit keeps that to its owner. */
function requireNoOtherWriters(folder: string, {mode}: Stats): void {
  if ((mode & STICKY) !== 0) return
  if ((mode & OTHERS_WRITE) !== 0) {
    throw unsafe(
      folder,
      'every user may write to it',
      `choose another folder, or run "chmod o-w ${folder}" if nobody else needs it`,
    )
  }
  if ((mode & GROUP_WRITE) === 0 || warned.has(folder)) return
  warned.add(folder)
  warn(`all users of a group may write to ${folder}, and replace what is in it`)
}

/** Nobody but root and the caller may be able to lead the path elsewhere, at any folder or link on the way. */
async function requireOwnWay(path: string, links = 0): Promise<void> {
  for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
    const stats = await lookAt(above)
    if (!stats) continue
    if (!isOurs(stats)) {
      const what = stats.isSymbolicLink() ? 'a symbolic link' : 'a folder'
      throw unsafe(above, `it is ${what} of another user`, 'choose another folder')
    }
    if (stats.isDirectory()) requireNoOtherWriters(above, stats)
    if (!stats.isSymbolicLink()) continue
    if (links === MOST_LINKS) throw unsafe(path, 'there are too many symbolic links on the way')
    const target = resolve(dirname(above), await readlink(above))
    await requireOwnWay(join(target, 'entry'), links + 1)
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

/**
 * Refuses a folder that is a link, or whose content another user can replace. With `repair`, the owner's own folder may be open to
 * others: the caller locks them out before it writes.
 */
export async function requireSafeFolder(path: string, {repair = false} = {}): Promise<void> {
  const folder = resolve(path)
  try {
    await requireOwnWay(folder)
    const stats = await lookAt(folder)
    if (!stats) throw missing(folder)
    await requireOwnFolder(folder, stats)
    if (!repair) requireNoOtherWriters(folder, stats)
  } catch (error) {
    throw unwritable(folder, error)
  }
}

/** The files of an open folder, which stays the same whatever happens to its path. Without /proc, the path is the best there is. */
export function descriptorPath(descriptor: number, path: string): string {
  const open = `/proc/self/fd/${descriptor}`
  return existsSync(open) ? open : path
}

/** A folder that was checked, and is held open, so that nothing can take its place. */
export class SafeFolder {
  readonly path: string
  readonly #handle: FileHandle

  private constructor(path: string, handle: FileHandle) {
    this.path = path
    this.#handle = handle
  }

  static async open(path: string): Promise<SafeFolder> {
    const folder = resolve(path)
    await requireSafeFolder(folder)
    try {
      const handle = await open(folder, OPEN_FOLDER)
      try {
        const stats = await handle.stat()
        await requireOwnFolder(folder, stats)
        requireNoOtherWriters(folder, stats)
        return new SafeFolder(folder, handle)
      } catch (error) {
        await handle.close()
        throw error
      }
    } catch (error) {
      throw unwritable(folder, error)
    }
  }

  at(name: string): string {
    return join(descriptorPath(this.#handle.fd, this.path), name)
  }

  /** So that renames in it survive a power cut. */
  async sync(): Promise<void> {
    await this.#handle.sync()
  }

  async close(): Promise<void> {
    await this.#handle.close()
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
    await requireOwnWay(folder)
    if (!(await lookAt(folder))) await make(folder, mode)
    await requireSafeFolder(folder, {repair})
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
