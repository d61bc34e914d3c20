import {constants} from 'node:fs'
import {open, rename} from 'node:fs/promises'
import type {FileHandle} from 'node:fs/promises'
import {TrustError, systemCode} from '../../errors.ts'

export interface RotatingFileOptions {
  path: string
  /** A file that would grow beyond this is put aside. */
  maxBytes: number
  /** How many files there are at most, the current one included; at least two. */
  files: number
}

/** Without O_NONBLOCK, opening a planted FIFO would wait for ever. */
const FLAGS =
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_WRONLY |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK

/** A file that is appended to and never grows beyond its bounds: `log`, `log.1`, `log.2`, … Readable by its owner only. */
export class RotatingFile {
  readonly #options: RotatingFileOptions
  #handle: FileHandle | undefined
  #size = 0

  constructor(options: RotatingFileOptions) {
    this.#options = options
  }

  /** Appends whole lines. Where it throws, a part of them may be there. */
  async append(text: Buffer): Promise<void> {
    let handle = this.#handle ?? (await this.#open())
    if (this.#size > 0 && this.#size + text.length > this.#options.maxBytes) {
      await this.#putAside()
      handle = await this.#open()
    }
    let written = 0
    while (written < text.length) {
      const {bytesWritten} = await handle.write(text, written)
      written += bytesWritten
      this.#size += bytesWritten
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close()
  }

  async #open(): Promise<FileHandle> {
    const {path} = this.#options
    const handle = await open(path, FLAGS, 0o600)
    try {
      const stat = await handle.stat()
      if (!stat.isFile() || stat.nlink > 1) {
        throw new TrustError('FILE_UNSAFE', `${path} is not a file of its own`, {
          hints: ['remove it, or choose another path'],
        })
      }
      await handle.chmod(0o600)
      this.#size = stat.size
    } catch (error) {
      await handle.close()
      throw error
    }
    this.#handle = handle
    return handle
  }

  async #putAside(): Promise<void> {
    const {path, files} = this.#options
    await this.close()
    for (let number = Math.max(2, files) - 1; number > 0; number -= 1) {
      await renameIfThere(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`)
    }
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}
