import {hasCode, messageOf} from '../../errors.ts'
import {every} from '../../runtime.ts'
import {callSafely} from '../feed.ts'
import type {StorageEvent, Subscriber} from '../storage.ts'
import type {Gateway} from './gateway.ts'
import {numberOf, revisionOf, type EtcdKeys, type WireEvent} from './messages.ts'
import {WatchStream, type WatchBatch} from './watch-stream.ts'

/** How often the member is asked for its progress while somebody waits for a revision. */
const ASK_EVERY = 20
/** A member that sends nothing for so long although somebody waits is left for another one. */
const STALLED_AFTER = 1_000
/** The same if it sends something, but stays behind. */
const BEHIND_AFTER = 2_500
/** If the next one is no better, all of them are slow, and to change again makes it worse: each is given twice as long, up to this factor. */
const MOST_PATIENCE = 8
const ALIVE_EVERY = 2_500
const RETRY_FIRST = 20
const RETRY_LAST = 1_000

interface SubscriptionOptions {
  gateway: Gateway
  keys: EtcdKeys
  prefix: string
  since: number
  subscriber: Subscriber
  /** Called with a line when the watch is cut, and when it works again. */
  tell: (line: string) => void
  onOver: () => void
}

/** One subscriber: a watch at one member that is started again at another one when it is cut. */
export class Subscription {
  readonly prefix: string
  readonly #options: SubscriptionOptions
  readonly #waiting = new Set<{revision: number; resolve: () => void}>()
  readonly #stopPulse: () => void
  #through: number
  #expected = 0
  #awaited = 0
  #expectedSince = 0
  #stopAsking: (() => void) | undefined
  #stream: WatchStream | undefined
  #patience = 1
  #askedAt = 0
  #isCut = false
  #isOver = false

  constructor(options: SubscriptionOptions) {
    this.#options = options
    this.prefix = options.prefix
    this.#through = options.since
    this.#stopPulse = every(ALIVE_EVERY, () => this.#checkAlive())
    void this.#run()
  }

  /** The subscriber must reach this revision soon; `at once` if nothing may be on its way. */
  expect(revision: number, atOnce = true): void {
    if (this.#isOver || revision <= this.#through || revision <= this.#expected) return
    if (this.#expected <= this.#through) this.#waitFor(revision)
    this.#expected = revision
    if (atOnce) this.#stream?.requestProgress()
    this.#stopAsking ??= every(ASK_EVERY, () => this.#ask())
  }

  /** How long a member is behind counts from one revision: others are written all the time, and nobody ever has the newest. */
  #waitFor(revision: number): void {
    this.#awaited = revision
    this.#expectedSince = performance.now()
  }

  /** Resolves when the subscriber has everything up to this revision; ends the subscription if that takes too long. */
  async heard(revision: number, milliseconds: number): Promise<void> {
    if (this.#isOver || this.#through >= revision) return
    this.expect(revision, false)
    const timer = setTimeout(() => this.#lose(), milliseconds)
    await new Promise<void>((resolve) => this.#waiting.add({revision, resolve}))
    clearTimeout(timer)
  }

  stop(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopPulse()
    this.#stopAsking?.()
    this.#stream?.close()
    this.#settle()
    this.#options.onOver()
  }

  async #run(): Promise<void> {
    const {gateway, keys, tell} = this.#options
    for (let pause = RETRY_FIRST; !this.#isOver; pause = Math.min(RETRY_LAST, pause * 2)) {
      try {
        const range = keys.range(this.prefix)
        const stream = await WatchStream.open(gateway, {...range, since: this.#through})
        if (this.#isOver) return stream.close()
        this.#stream = stream
        if (this.#isCut && (await this.#wentBack())) return this.#lose()
        this.#expectedSince = performance.now()
        if (this.#expected > this.#through) stream.requestProgress()
        for await (const batch of stream.batches()) {
          pause = RETRY_FIRST
          if (this.#isCut) tell('the watch of etcd works again')
          this.#isCut = false
          this.#deliver(batch)
        }
      } catch (error) {
        if (this.#isOver) return
        if (hasCode(error, 'STORE_COMPACTED')) return this.#lose()
        if (!this.#isCut) tell(`the watch of etcd was cut: ${messageOf(error)}`)
        this.#isCut = true
        if (await this.#wentBack().catch(() => false)) return this.#lose()
      }
      this.#stream?.close()
      this.#stream = undefined
      await gateway.pause(pause).catch(() => this.stop())
    }
  }

  /** After a restore from a backup, etcd may be behind us, and a watch from the future is silent. */
  async #wentBack(): Promise<boolean> {
    const {gateway, keys} = this.#options
    const probe = {key: keys.own('probe'), count_only: true}
    return revisionOf(await gateway.call('kv/range', probe)) < this.#through
  }

  #deliver({through, events}: WatchBatch): void {
    if (this.#isOver || through <= this.#through) return
    const news = events
      .filter(({kv}) => numberOf(kv.mod_revision) > this.#through)
      .map((event) => toEvent(event, this.#options.keys))
    this.#through = through
    this.#patience = 1
    if (through >= this.#awaited && through < this.#expected) this.#waitFor(this.#expected)
    callSafely(() => this.#options.subscriber.advance(through, news))
    this.#settle()
  }

  #ask(): void {
    if (this.#expected <= this.#through) {
      this.#stopAsking?.()
      this.#stopAsking = undefined
      return
    }
    const stream = this.#stream
    if (!stream) return
    const now = performance.now()
    const waited = now - this.#expectedSince
    const silence = now - Math.max(stream.heardAt, this.#expectedSince)
    const isTooLate =
      silence > STALLED_AFTER * this.#patience || waited > BEHIND_AFTER * this.#patience
    if (isTooLate) {
      this.#patience = Math.min(2 * this.#patience, MOST_PATIENCE)
      this.#leave(stream)
    } else if (now - this.#askedAt >= waited / 4) {
      // Less and less often: a slow member has enough to do.
      this.#askedAt = now
      stream.requestProgress()
    }
  }

  /** Also finds a connection that is cut without a sign, when nobody waits for anything. */
  #checkAlive(): void {
    const stream = this.#stream
    if (!stream) return
    const silence = performance.now() - stream.heardAt
    if (silence > 3 * ALIVE_EVERY) this.#leave(stream)
    else if (silence > ALIVE_EVERY) stream.requestProgress()
  }

  #leave(stream: WatchStream): void {
    this.#options.gateway.endpoints.avoid(stream.endpoint)
    this.#expectedSince = performance.now()
    stream.close()
  }

  #lose(): void {
    if (this.#isOver) return
    this.stop()
    callSafely(() => this.#options.subscriber.lost())
  }

  #settle(): void {
    for (const waiter of this.#waiting) {
      if (!this.#isOver && waiter.revision > this.#through) continue
      this.#waiting.delete(waiter)
      waiter.resolve()
    }
  }
}

function toEvent({type, kv}: WireEvent, keys: EtcdKeys): StorageEvent {
  const revision = numberOf(kv.mod_revision)
  if (type === 'DELETE') return {type: 'delete', key: keys.decode(kv.key), revision}
  const entry = keys.entry(kv)
  return {type: 'put', key: entry.key, revision, entry}
}
