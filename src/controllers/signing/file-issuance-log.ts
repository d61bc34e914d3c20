import {parseSealed, type LogHead, type SealedHead} from '../../csr/log-head.ts'
import {hasCode} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import type {Issuance, IssuanceLog} from './issuance.ts'
import {closedLog, openLog, type OpenLog} from './log-file.ts'
import {continues, findHead, isSealed, sealHead} from './log-heads.ts'
import {readLogKey, settleLogKey, takeLogKey, type LogKey} from './log-key.ts'
import {encodeLine, type KnownHead, type LogContent, type LogNote} from './log-line.ts'
import {checkFound, type SeenEnd} from './log-tail.ts'
import {takeoverNotes, type Takeover} from './takeover.ts'

interface Waiting {
  /** Absent if the log is only to be opened. */
  content?: LogContent | undefined
  done: () => void
  failed: (error: unknown) => void
}

/**
 * Of a line that a witness has: it is there; it is of an earlier log that was moved away, and this log begins with that; this signer
 * has given it out and it is gone, alone or with the whole log; or nobody here has given it out, as far as is known.
 */
export type HeadVerdict = 'there' | 'recorded' | 'lost' | 'replaced' | 'unknown'

const alwaysMine = (): Promise<() => void> => Promise.resolve(() => undefined)

/** What the next look at the log finds again. */
const FOUND_AGAIN: ReadonlySet<LogNote['decision']> = new Set(['began', 'keyed'])

/**
 * The issuance log: JSON lines, each with the hash of the one before and authenticated with a key. Lines that arrive together
 * are written and synced together. A line that cannot be written is an error of its `append`; the next one tries again from
 * the start. What this process has written has to stay: nothing is added to a log that was cut or rewritten.
 */
export class FileIssuanceLog implements IssuanceLog {
  readonly path: string
  readonly #keyPath: string
  readonly #clock: Clock
  readonly #takeTurn: () => Promise<() => void>
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  #log: OpenLog | undefined
  #key: LogKey | undefined
  /** The end of the log as this process has last seen it. */
  #seen: SeenEnd | undefined
  /** Not noted in the log yet. */
  #notes: LogNote[] = []
  /** What this signer took over with, until it is noted. */
  #takeover: Takeover | undefined
  /** The last line, as nodes get it. */
  #sealed: string | undefined
  #isClosed = false

  /** `takeTurn` waits until no other process writes, and keeps others from it; absent where nobody else does. */
  constructor(path: string, clock: Clock, keyPath = `${path}.key`, takeTurn = alwaysMine) {
    this.path = path
    this.#takeTurn = takeTurn
    this.#keyPath = keyPath
    this.#clock = clock
  }

  async append(issuance: Issuance): Promise<string | undefined> {
    await this.#enqueue(issuance)
    return this.#sealed
  }

  /** The last line that this process has seen; undefined before that. */
  get head(): LogHead | undefined {
    return this.#seen?.head
  }

  /** The same, as nodes get it. */
  get sealedHead(): SealedHead | undefined {
    return parseSealed(this.#sealed)
  }

  /**
   * Notes, before the next line, where the other logs ended when this signer took over. `onLost` is called for a line that others
   * know, and that this signer has written to this log or to one which is gone.
   */
  takeOver(known: readonly KnownHead[], onLost: Takeover['onLost']): void {
    this.#takeover = {known, onLost}
  }

  /** What this log knows of a line that a witness has. */
  async verdictOn(head: SealedHead): Promise<HeadVerdict> {
    if ((await findHead(this.path, head)) === 'there') return 'there'
    const key = await readLogKey(this.#keyPath)
    if (!key || !isSealed(head, key)) return 'unknown'
    // A log that was just moved away is noted by this. One that is broken lacks the line for that reason.
    await this.check().catch((error: unknown) => {
      if (!hasCode(error, 'ISSUANCE_LOG_BROKEN')) throw error
    })
    const place = await findHead(this.path, head)
    if (place !== 'other log') return place === 'there' ? 'there' : 'lost'
    const isBefore = await continues(this.path, head.chain)
    if (isBefore === undefined) return 'unknown'
    return isBefore ? 'recorded' : 'replaced'
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
    const endTurn = await this.#takeTurn()
    try {
      await this.#writeAlone(added)
    } finally {
      endTurn()
    }
  }

  async #writeAlone(added: LogContent[]): Promise<void> {
    this.#key ??= await takeLogKey(this.#keyPath)
    const {key, isNew} = this.#key
    const log = await this.#ready(this.#key)
    if (this.#takeover) {
      const own = {chain: log.head?.chain, key, notes: this.#notes}
      this.#notes.push(...(await takeoverNotes(this.path, own, this.#takeover)))
      this.#takeover = undefined
    }
    const contents: LogContent[] = [...this.#notes, ...added]
    if (contents.length > 0) {
      let {hash} = log
      const time = this.#clock.now()
      const lines = contents.map((content) => {
        const encoded = encodeLine(time, content, hash, key)
        hash = encoded.hash
        return encoded
      })
      await log.append(lines)
      this.#notes = []
    }
    const {hash, inode, head, predecessors} = log
    this.#seen = {hash, inode, head, predecessors}
    this.#sealed = head && sealHead(head, key)
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
    // What is found only once is noted also where the first try to note it failed.
    this.#notes = [...notes, ...this.#notes.filter(({decision}) => !FOUND_AGAIN.has(decision))]
    return this.#log
  }

  async #forget(): Promise<void> {
    const log = this.#log
    this.#log = undefined
    await log?.close().catch(() => undefined)
  }
}
