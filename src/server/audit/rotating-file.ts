import {constants} from 'node:fs'
import {open, readdir, rename, unlink} from 'node:fs/promises'
import type {FileHandle} from 'node:fs/promises'
import {basename, dirname, extname, join} from 'node:path'
import {TrustError, systemCode} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'

export interface Retention {
  /** A file that would grow beyond this is rotated. */
  maxBytes: number
  /** How many rotated files are kept; 0: all. */
  maxBackups: number
  /** How long they are kept; 0 for no limit. */
  maxAgeMilliseconds: number
}

export interface RotatingFileOptions extends Retention {
  path: string
  clock: Clock
}

/** Without O_NONBLOCK, opening a planted FIFO would wait without end. */
const FLAGS =
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_WRONLY |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK

const STAMP = /^-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/

/**
 * A file that is appended to and rotated when it is full, with the names that kube-apiserver uses:
 * `audit-2026-01-01T00-00-00.000.log`. Readable by its owner only.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions
  #handle: FileHandle | undefined
  #size = 0

  constructor(options: RotatingFileOptions) {
    this.#options = options
  }

  /** Appends whole lines. If it throws, some of them may have been written. */
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
    const {path, clock} = this.#options
    await this.close()
    const times = await this.#backups()
    // The newest file has the latest name, even if the clock was set back.
    const time = Math.max(clock.now().getTime(), ...times.map((one) => one + 1))
    await rename(path, this.#backupAt(time))
    await this.#prune([...times, time])
  }

  #backupAt(time: number): string {
    const {path} = this.#options
    const extension = extname(path)
    const stamp = new Date(time).toISOString().slice(0, -1).replaceAll(':', '-')
    return join(dirname(path), `${basename(path, extension)}-${stamp}${extension}`)
  }

  /** When each file was rotated. */
  async #backups(): Promise<number[]> {
    const {path} = this.#options
    const extension = extname(path)
    const name = basename(path, extension)
    return (await readdir(dirname(path))).flatMap((file) => {
      if (!file.startsWith(name) || !file.endsWith(extension)) return []
      const [, day, hour, minute, second] =
        STAMP.exec(file.slice(name.length, file.length - extension.length)) ?? []
      const time = day === undefined ? NaN : Date.parse(`${day}T${hour}:${minute}:${second}Z`)
      return Number.isNaN(time) ? [] : [time]
    })
  }

  async #prune(times: number[]): Promise<void> {
    const {maxBackups, maxAgeMilliseconds, clock} = this.#options
    const now = clock.now().getTime()
    const newestFirst = times.sort((a, b) => b - a)
    const old = newestFirst.filter(
      (time, index) =>
        (maxBackups > 0 && index >= maxBackups) ||
        (maxAgeMilliseconds > 0 && now - time > maxAgeMilliseconds),
    )
    await Promise.all(old.map((time) => unlinkIfThere(this.#backupAt(time))))
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}
