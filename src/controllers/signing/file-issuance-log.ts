import type {Clock} from '../../runtime.ts'
import type {Issuance, IssuanceLog} from './issuance.ts'
import {closedLog, openLog, type OpenLog} from './log-file.ts'
import {encodeLine, type LogContent} from './log-line.ts'

interface Waiting {
  /** Absent where the log is only to be opened. */
  issuance?: Issuance | undefined
  done: () => void
  failed: (error: unknown) => void
}

/**
 * The issuance log: JSON lines, each with the hash of the one before. Lines that arrive together are written and synced
 * together. A line that cannot be written is an error of its `append`; the next one tries again from the start.
 */
export class FileIssuanceLog implements IssuanceLog {
  readonly path: string
  readonly #clock: Clock
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  #log: OpenLog | undefined
  /** Cut off, and not noted in the log yet. */
  #torn = 0
  #isClosed = false

  constructor(path: string, clock: Clock) {
    this.path = path
    this.#clock = clock
  }

  async append(issuance: Issuance): Promise<void> {
    await this.#enqueue(issuance)
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

  async #enqueue(issuance?: Issuance): Promise<void> {
    if (this.#isClosed) throw closedLog()
    await new Promise<void>((done, failed) => {
      this.#waiting.push({issuance, done, failed})
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
        await this.#write(batch.flatMap(({issuance}) => issuance ?? []))
        for (const {done} of batch) done()
      } catch (error) {
        await this.#forget()
        for (const {failed} of batch) failed(error)
      }
    }
    this.#writing = undefined
  }

  async #write(issuances: Issuance[]): Promise<void> {
    const log = await this.#ready()
    const reason = `${this.#torn} bytes that an interrupted write had left were cut off`
    const contents: LogContent[] =
      this.#torn === 0 ? issuances : [{decision: 'recovered', reason}, ...issuances]
    if (contents.length === 0) return
    let {hash} = log
    let lines = ''
    const time = this.#clock.now()
    for (const content of contents) {
      const encoded = encodeLine(time, content, hash)
      hash = encoded.hash
      lines += encoded.line
    }
    await log.append(lines, hash)
    this.#torn = 0
  }

  async #ready(): Promise<OpenLog> {
    if (this.#log && !(await this.#log.isCurrent())) await this.#forget()
    if (!this.#log) {
      this.#log = await openLog(this.path)
      this.#torn += this.#log.torn
    }
    return this.#log
  }

  async #forget(): Promise<void> {
    const log = this.#log
    this.#log = undefined
    await log?.close().catch(() => undefined)
  }
}
