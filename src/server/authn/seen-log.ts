import {constants} from 'node:fs'
import {open, rm, type FileHandle} from 'node:fs/promises'
import {readFileIfThere} from '../../fs/files.ts'

const {O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY} = constants
/** Without O_NONBLOCK, opening a planted FIFO would wait without end. */
const FLAGS = O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_WRONLY
const OWNER_ONLY = 0o600
const MOST_BYTES = 64 * 1024 * 1024
/** Characters that wait for a disk that hangs. What is more is only in the whole list, which is written later. */
const MOST_WAITING = 4 * 1024 * 1024

/** The files of the log of a list: one is written to while the other is taken over into the list. */
export const seenLogs = (path: string): [string, string] => [`${path}.0`, `${path}.1`]

/** The lines of both files, as far as they were written. */
export async function readSeenLogs(path: string): Promise<unknown[]> {
  const found = await Promise.all(
    seenLogs(path).map((file) => readFileIfThere(file, {maxBytes: MOST_BYTES})),
  )
  return found.flatMap((content) => (content?.toString() ?? '').split('\n')).flatMap(valueOf)
}

function valueOf(line: string): unknown[] {
  try {
    return line === '' ? [] : [JSON.parse(line)]
  } catch {
    // The last line of a process that was killed.
    return []
  }
}

/**
 * What was added to a list since it was last written as a whole. It is with the system right away, so that a process that is killed
 * loses nothing; only with a machine that loses its power the last seconds may be gone.
 */
export class SeenLog {
  readonly #path: string
  readonly #onError: (error: unknown) => void
  #current: 0 | 1 = 0
  #handle: FileHandle | undefined
  #waiting = ''
  #writing: Promise<void> | undefined

  constructor(path: string, onError: (error: unknown) => void) {
    this.#path = path
    this.#onError = onError
  }

  append(value: object): void {
    if (this.#waiting.length < MOST_WAITING) this.#waiting += `${JSON.stringify(value)}\n`
    this.#writing ??= this.#drain().finally(() => (this.#writing = undefined))
  }

  /** Writes to the other file from now on. What was appended until now is in the returned one, which may be removed once the list has it. */
  async turn(): Promise<string> {
    await this.#writing
    const full = seenLogs(this.#path)[this.#current]
    this.#current = this.#current === 0 ? 1 : 0
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close()
    return full
  }

  /** Only for a log that is not written to any more, or whose content is in the list. */
  static async remove(path: string): Promise<void> {
    for (const file of seenLogs(path)) await rm(file, {force: true})
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#handle?.close()
    this.#handle = undefined
  }

  async #drain(): Promise<void> {
    while (this.#waiting !== '') {
      const lines = this.#waiting
      this.#waiting = ''
      try {
        const file = seenLogs(this.#path)[this.#current]
        this.#handle ??= await open(file, FLAGS, OWNER_ONLY)
        await this.#handle.appendFile(lines)
      } catch (error) {
        // The whole list is written soon anyway.
        this.#onError(error)
      }
    }
  }
}
