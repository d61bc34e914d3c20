import type {Clock} from '../../runtime.ts'
import {auditEvent} from './event.ts'
import type {AuditedRequest} from './event.ts'
import {RotatingFile} from './rotating-file.ts'

export type AuditLevel = 'metadata' | 'none'

export interface AuditLogOptions {
  path: string
  level: AuditLevel
  clock: Clock
  maxBytes?: number
  files?: number
  /** How much may wait to be written. */
  maxPendingBytes?: number
  /** Told once whenever writing begins to fail. */
  onError?: (error: unknown) => void
}

/** Takes note of requests. Never makes one wait, and never makes one fail. */
export interface AuditLog {
  record(audited: AuditedRequest): void
  /** Lines that could not be kept since the start. */
  readonly lost: number
  /** Ends once everything taken so far is written, or could not be. */
  flush(): Promise<void>
  close(): Promise<void>
}

const MIB = 1024 * 1024
const MAX_BATCH = 64 * 1024

const silent: AuditLog = {
  record: () => undefined,
  lost: 0,
  flush: () => Promise.resolve(),
  close: () => Promise.resolve(),
}

/** Opens the audit log: JSON lines in a file that keeps to its size. */
export function openAuditLog(options: AuditLogOptions): AuditLog {
  return options.level === 'none' ? silent : new FileAuditLog(options)
}

class FileAuditLog implements AuditLog {
  readonly #file: RotatingFile
  readonly #clock: Clock
  readonly #maxPending: number
  readonly #onError: (error: unknown) => void
  #pending: Buffer[] = []
  #pendingBytes = 0
  #writing: Promise<void> | undefined
  #isFailing = false
  #isClosed = false
  /** Lost since the last line that told of it. */
  #untold = 0
  lost = 0

  constructor(options: AuditLogOptions) {
    const {path, clock, maxBytes = 10 * MIB, files = 3, maxPendingBytes = 4 * MIB} = options
    this.#file = new RotatingFile({path, maxBytes, files})
    this.#clock = clock
    this.#maxPending = maxPendingBytes
    this.#onError = options.onError ?? (() => undefined)
  }

  record(audited: AuditedRequest): void {
    if (this.#isClosed) return
    const line = Buffer.from(`${JSON.stringify(auditEvent(audited))}\n`)
    if (this.#pendingBytes + line.length > this.#maxPending) {
      this.#lose(1)
      return
    }
    this.#pending.push(line)
    this.#pendingBytes += line.length
    this.#writing ??= this.#drain()
  }

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
    // Requests answered in the same turn share one write.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#pending.length > 0) await this.#write(this.#nextBatch())
    this.#writing = undefined
  }

  #nextBatch(): Buffer[] {
    const batch: Buffer[] = []
    let bytes = 0
    while (bytes < MAX_BATCH) {
      const line = this.#pending[batch.length]
      if (line === undefined) break
      batch.push(line)
      bytes += line.length
    }
    this.#pending = this.#pending.slice(batch.length)
    this.#pendingBytes -= bytes
    return batch
  }

  async #write(batch: Buffer[]): Promise<void> {
    const told = this.#untold
    // An empty line first: the write that failed may have left half a line.
    const gap = told === 0 ? [] : [Buffer.from(`\n${this.#gapLine(told)}\n`)]
    try {
      await this.#file.append(Buffer.concat([...gap, ...batch]))
      this.#untold -= told
      this.#isFailing = false
    } catch (error) {
      this.#lose(batch.length)
      if (!this.#isFailing) this.#onError(error)
      this.#isFailing = true
      // The next write begins with a fresh handle: the file may have been moved or the disk come back.
      await this.#file.close().catch(() => undefined)
    }
  }

  #gapLine(lines: number): string {
    return JSON.stringify({ts: this.#clock.now().toISOString(), lostLines: lines})
  }
}
