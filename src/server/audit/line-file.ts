import {sleep} from '../../runtime.ts'
import {RotatingFile, type RotatingFileOptions} from './rotating-file.ts'

export interface LineFileOptions extends RotatingFileOptions {
  /** How much may wait to be written. */
  maxPendingBytes: number
  /** Called once whenever writing begins to fail. */
  onError: (error: unknown) => void
  /** The line that says how many are missing. */
  lostLine: (lines: number) => string
}

const MAX_BATCH = 64 * 1024
/** Lines of this time share one write, which costs as much as a small request: milliseconds. */
const GATHER = 10

/** Writes lines in batches in the background: no caller waits or fails. */
export class LineFile {
  readonly #options: LineFileOptions
  readonly #file: RotatingFile
  #pending: string[] = []
  #pendingBytes = 0
  #writing: Promise<void> | undefined
  #failure: unknown
  #isClosed = false
  /** Lost since the last line that reported a loss. */
  #untold = 0
  lost = 0

  constructor(options: LineFileOptions) {
    this.#options = options
    this.#file = new RotatingFile(options)
  }

  add(text: string): void {
    if (this.#isClosed) return
    const bytes = Buffer.byteLength(text) + 1
    if (this.#pendingBytes + bytes > this.#options.maxPendingBytes) {
      this.#lose(1)
      return
    }
    this.#pending.push(text)
    this.#pendingBytes += bytes
    this.#writing ??= this.#drain()
  }

  /** Throws if lines cannot be written. Tries again if they could not before. */
  async check(): Promise<void> {
    if (this.#failure === undefined) return
    if (!this.#isClosed) this.#writing ??= this.#write([]).then(() => (this.#writing = undefined))
    await this.#writing
    if (this.#failure !== undefined) throw this.#failure as Error
  }

  /** Resolves once everything taken so far is written or lost. */
  async flush(): Promise<void> {
    await this.#writing
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#writing
    await this.#file.close()
  }

  #lose(lines: number): void {
    this.lost += lines
    this.#untold += lines
  }

  async #drain(): Promise<void> {
    await sleep(GATHER)
    while (this.#pending.length > 0) await this.#write(this.#nextBatch())
    this.#writing = undefined
  }

  #nextBatch(): string[] {
    const batch: string[] = []
    let bytes = 0
    while (bytes < MAX_BATCH) {
      const line = this.#pending[batch.length]
      if (line === undefined) break
      batch.push(line)
      bytes += Buffer.byteLength(line) + 1
    }
    this.#pending = this.#pending.slice(batch.length)
    this.#pendingBytes -= bytes
    return batch
  }

  async #write(batch: string[]): Promise<void> {
    const told = this.#untold
    // An empty line first: the write that failed may have left half a line.
    const gap = told === 0 ? [] : ['', this.#options.lostLine(told)]
    try {
      await this.#file.append(Buffer.from([...gap, ...batch, ''].join('\n')))
      this.#untold -= told
      this.#failure = undefined
    } catch (error) {
      this.#lose(batch.length)
      if (this.#failure === undefined) this.#options.onError(error)
      this.#failure = error
      // The next write opens the file again: it may have been moved, or the disk may work again.
      await this.#file.close().catch(() => undefined)
    }
  }
}
