import {constants} from 'node:fs'
import {open, rename, rm, type FileHandle} from 'node:fs/promises'
import {basename, dirname, resolve} from 'node:path'
import {systemCode} from '../errors.ts'
import {
  isOurs,
  OTHERS,
  requirePlainFile,
  requireReplaceable,
  unreadable,
  unsafe,
  unwritable,
} from './file-checks.ts'
import {SafeFolder} from './folders.ts'
import {removeTemporary, takeTemporary} from './temporary-names.ts'

const {O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY} = constants
const DEFAULT_MODE = 0o600
const MOST_BYTES = 1024 * 1024
/** The path of a pipe that a shell passes to a program, as in `--token-file <(…)`. */
const DESCRIPTOR = /^\/dev\/(?:stdin|fd\/\d+)$/

export interface ReadOptions {
  /** A larger file is refused. */
  maxBytes?: number
  /** For secrets: a plain file of ours that others cannot read. */
  secret?: boolean
  /** For files that an operator names, which may be links; never together with `secret`. */
  followLinks?: boolean
}

/** Writes a new file to the disk. The mode is set on the open file, so that the umask has no effect. */
export async function writeNewFile(
  path: string,
  data: string | Uint8Array,
  mode: number,
): Promise<void> {
  const handle = await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, DEFAULT_MODE)
  try {
    await handle.chmod(mode)
    await handle.writeFile(data)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A file to write. */
export interface NewFile {
  path: string
  data: string | Uint8Array
  /** By default readable by its owner only. */
  mode?: number | undefined
}

/**
 * Replaces a whole file: a reader sees the old content or the new, even after crashes and power cuts. Refuses to replace a link,
 * a pipe or another user's file. On a failure the old file is kept and nothing else is left.
 */
export async function writeFileSafely(
  path: string,
  data: string | Uint8Array,
  {mode}: {mode?: number} = {},
): Promise<void> {
  await writeFilesSafely([{path, data, mode}])
}

/**
 * Replaces several files in their order. All of them are on the disk before the first is replaced, so that a full disk changes none.
 * After a crash, later ones may be missing: the first must be enough to write the others again.
 */
export async function writeFilesSafely(files: readonly NewFile[]): Promise<void> {
  const staged: StagedFile[] = []
  let target = ''
  try {
    for (const {path, data, mode = DEFAULT_MODE} of files) {
      target = resolve(path)
      const one = await StagedFile.create(target)
      staged.push(one)
      await writeNewFile(one.path, data, mode)
    }
    for (const one of staged) {
      target = one.target
      await one.commit()
    }
  } catch (error) {
    throw unwritable(target, error)
  } finally {
    for (const one of staged) await one.close()
  }
}

/** A file that is written beside the one that it replaces. */
export class StagedFile {
  readonly target: string
  readonly #folder: SafeFolder
  readonly #temporary: ReturnType<typeof takeTemporary>

  private constructor(target: string, folder: SafeFolder, writer?: string) {
    this.target = target
    this.#folder = folder
    this.#temporary = takeTemporary(folder.path, basename(target), writer)
  }

  /** Refuses a folder that is not safe, and a target that cannot be replaced. What the same writer has left of it is removed. */
  static async create(target: string, writer?: string): Promise<StagedFile> {
    const folder = await SafeFolder.open(dirname(target))
    const name = basename(target)
    try {
      await requireReplaceable(target, folder.at(name))
      if (writer !== undefined)
        await removeTemporary(folder, (of) => of.file === name && of.writer === writer)
      return new StagedFile(target, folder, writer)
    } catch (error) {
      await folder.close()
      throw error
    }
  }

  /** Where it is written to, in the folder that was checked. */
  get path(): string {
    return this.#folder.at(this.#temporary.name)
  }

  async commit(): Promise<void> {
    await rename(this.path, this.#folder.at(basename(this.target)))
    await this.#folder.sync()
  }

  /** Removes what was not committed. */
  async close(): Promise<void> {
    await rm(this.path, {force: true}).catch(() => undefined)
    this.#temporary.release()
    await this.#folder.close()
  }
}

const CHUNK = 64 * 1024

/** `size` is what the system says, which is not the end: some files grow, and some have no size. */
async function readAtMost(
  handle: FileHandle,
  path: string,
  {size, maxBytes}: {size: number; maxBytes: number},
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let total = 0
  // One more than there should be, to see the end of a small file in the same read.
  let length = size > 0 && size < CHUNK ? size + 1 : CHUNK
  for (;;) {
    const {bytesRead, buffer} = await handle.read(Buffer.alloc(length), 0, length, null)
    if (bytesRead === 0) return Buffer.concat(chunks)
    total += bytesRead
    if (total > maxBytes) throw unsafe(path, `it is larger than ${maxBytes} bytes`)
    if (chunks.length === 0 && bytesRead === size && bytesRead < length)
      return buffer.subarray(0, bytesRead)
    chunks.push(buffer.subarray(0, bytesRead))
    length = CHUNK
  }
}

async function lockOthersOut(handle: FileHandle, path: string, mode: number): Promise<void> {
  if ((mode & OTHERS) === 0) return
  try {
    await handle.chmod(mode & 0o700)
  } catch (error) {
    throw systemCode(error) === 'EPERM' || systemCode(error) === 'EROFS'
      ? unsafe(
          path,
          'it is a secret that other users can read',
          `run "chmod 600 ${path}" as its owner`,
        )
      : error
  }
}

/** The file's content, or undefined if there is no file. Never waits for a pipe, never reads without a limit. */
export async function readFileIfThere(
  path: string,
  {maxBytes = MOST_BYTES, secret = false, followLinks = false}: ReadOptions = {},
): Promise<Buffer | undefined> {
  let handle: FileHandle | undefined
  try {
    const isGiven = followLinks && DESCRIPTOR.test(path)
    // Only for a pipe of this process, which no one else can plant.
    const flags = isGiven ? 0 : O_NONBLOCK | (followLinks ? 0 : O_NOFOLLOW)
    handle = await open(path, O_RDONLY | flags)
    const stats = await handle.stat()
    if (secret) {
      requirePlainFile(path, stats)
      await lockOthersOut(handle, path, stats.mode)
    } else if (!stats.isFile() && !(isGiven && stats.isFIFO())) {
      throw unsafe(path, 'it is not a file')
    } else if (!followLinks && !isOurs(stats)) {
      throw unsafe(path, 'it belongs to another user')
    }
    return await readAtMost(handle, path, {size: stats.size, maxBytes})
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    if (systemCode(error) === 'ELOOP') throw unsafe(path, 'it is a symbolic link')
    throw unreadable(path, error)
  } finally {
    await handle?.close()
  }
}

/** Like `readFileIfThere`, for a file that must exist. */
export async function readFileSafely(path: string, options: ReadOptions = {}): Promise<Buffer> {
  const content = await readFileIfThere(path, options)
  if (content) return content
  throw unreadable(path, new Error('there is no such file'))
}
