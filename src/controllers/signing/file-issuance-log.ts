import type {Clock} from '../../runtime.ts'
import type {Issuance, IssuanceLog} from './issuance.ts'
import {closedLog, openLog, type OpenLog} from './log-file.ts'
import {settleLogKey, takeLogKey, type LogKey} from './log-key.ts'
import {encodeLine, type LogContent, type LogNote} from './log-line.ts'
import {checkFound, type SeenEnd} from './log-tail.ts'

interface Waiting {
  /** Absent if the log is only to be opened. */
  content?: LogContent | undefined
  done: () => void
  failed: (error: unknown) => void
}

/**
 * The issuance log: JSON lines, each with the hash of the one before and authenticated with a key. Lines that arrive together
 * are written and synced together. A line that cannot be written is an error of its `append`; the next one tries again from
 * the start. What this process has written has to stay: nothing is added to a log that was cut or rewritten.
 */
export class FileIssuanceLog implements IssuanceLog {
  readonly path: string
  readonly #keyPath: string
  readonly #clock: Clock
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  #log: OpenLog | undefined
  #key: LogKey | undefined
  /** The end of the log as this process has last seen it. */
  #seen: SeenEnd | undefined
  /** Not noted in the log yet. */
  #notes: LogNote[] = []
  #isClosed = false

  constructor(path: string, clock: Clock, keyPath = `${path}.key`) {
    this.path = path
    this.#keyPath = keyPath
    this.#clock = clock
  }

  async append(issuance: Issuance): Promise<void> {
    await this.#enqueue(issuance)
  }

  /** Adds a line about the log itself. */
  async note(note: LogNote): Promise<void> {
    await this.#enqueue(note)
  }

  /** Opens the log and puts it right, so that what is wrong with it is known before anything is signed. */
  async check(): Promise<void> {
    await this.#enqueue()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#writing
    await this.#forget()
  }

  async #enqueue(content?: LogContent): Promise<void> {
    if (this.#isClosed) throw closedLog()
    await new Promise<void>((done, failed) => {
      this.#waiting.push({content, done, failed})
      this.#writing ??= this.#drain()
    })
  }

  async #drain(): Promise<void> {
    // Signatures that are made in the same turn share one write.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        await this.#write(batch.flatMap(({content}) => content ?? []))
        for (const {done} of batch) done()
      } catch (error) {
        await this.#forget()
        for (const {failed} of batch) failed(error)
      }
    }
    this.#writing = undefined
  }

  async #write(added: LogContent[]): Promise<void> {
    this.#key ??= await takeLogKey(this.#keyPath)
    const {key, isNew} = this.#key
    const log = await this.#ready(this.#key)
    const contents: LogContent[] = [...this.#notes, ...added]
    if (contents.length > 0) {
      let {hash} = log
      let lines = ''
      const time = this.#clock.now()
      for (const content of contents) {
        const encoded = encodeLine(time, content, hash, key)
        hash = encoded.hash
        lines += encoded.line
      }
      await log.append(lines, hash)
      this.#notes = []
    }
    this.#seen = {hash: log.hash, inode: log.inode}
    if (isNew) {
      await settleLogKey(this.#keyPath)
      this.#key = {key, isNew: false}
    }
  }

  async #ready(key: LogKey): Promise<OpenLog> {
    if (this.#log && !this.#log.isCurrent()) await this.#forget()
    if (this.#log) return this.#log
    const seen = this.#seen
    const notes: LogNote[] = []
    this.#log = await openLog(this.path, async (found) => {
      notes.push(...(await checkFound(this.path, found, {seen, ...key})))
    })
    // What was cut off is noted once, also where the first try to note it failed.
    this.#notes = [...this.#notes.filter(({decision}) => decision === 'recovered'), ...notes]
    return this.#log
  }

  async #forget(): Promise<void> {
    const log = this.#log
    this.#log = undefined
    await log?.close().catch(() => undefined)
  }
}
