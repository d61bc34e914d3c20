import {randomUUID} from 'node:crypto'
import {hasCode, TrustError} from '../../errors.ts'
import {closedError} from '../feed.ts'
import {requireKey} from '../keys.ts'
import type {
  Entry,
  PastEvent,
  Range,
  RangeOptions,
  Storage,
  StorageEvent,
  Subscriber,
} from '../storage.ts'
import type {Write} from '../writes.ts'
import {EtcdCompactor} from './compactor.ts'
import {storeError} from './failure.ts'
import type {Gateway} from './gateway.ts'
import {Guard, lostError, type Judge} from './guard.ts'
import {readHistory} from './history.ts'
import {base64, revisionOf, type EtcdKeys, type WireRange, type WireTxn} from './messages.ts'
import {Ranges} from './ranges.ts'
import {SharedQuestion} from './shared-question.ts'
import {Subscription} from './subscription.ts'
import {Writer} from './writer.ts'

/** How long the last write counts as proof that etcd accepts writes. */
const CHECK_EVERY = 1_000
/** A write that etcd has confirmed waits no longer for its event; then the subscriber has lost events. */
const HEARD_WITHIN = 10_000

/** A store in etcd, which other processes write to as well. */
export class EtcdStorage implements Storage {
  readonly isShared = true
  /** Tells this storage from all others of the same keys. */
  readonly opener = randomUUID()
  readonly #gateway: Gateway
  readonly #keys: EtcdKeys
  readonly #tell: (line: string) => void
  readonly #ranges: Ranges
  readonly #writer: Writer
  readonly #subscriptions = new Set<Subscription>()
  readonly #writes = new Set<Promise<unknown>>()
  readonly #revision = new SharedQuestion(() => this.#askRevision())
  readonly #stopCompaction: () => Promise<void>
  #guard: Guard | undefined
  #lost: Error | undefined
  #writtenAt = -Infinity
  #checking: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #release: () => Promise<void> = () => Promise.resolve()

  constructor(gateway: Gateway, keys: EtcdKeys, tell: (line: string) => void) {
    this.#gateway = gateway
    this.#keys = keys
    this.#tell = tell
    this.#ranges = new Ranges(gateway, keys)
    this.#writer = new Writer(gateway, keys, () => this.#guard)
    this.#stopCompaction = new EtcdCompactor(gateway, keys).start(() => this.revision(), tell)
  }

  async create(key: string, value: Uint8Array): Promise<Entry> {
    requireEtcdKey(key)
    return entryOf(await this.#write({type: 'create', key, value: new Uint8Array(value)}))
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<Entry> {
    requireEtcdKey(key)
    return entryOf(await this.#write({type: 'update', key, value: new Uint8Array(value), revision}))
  }

  async delete(key: string, revision: number): Promise<{revision: number}> {
    const event = await this.#write({type: 'delete', key, revision})
    return {revision: event.revision}
  }

  async get(key: string): Promise<Entry | undefined> {
    return this.#read(() => this.#ranges.get(key))
  }

  async list(prefix: string, options: RangeOptions = {}): Promise<Range> {
    return this.#read(() => this.#ranges.list(prefix, options))
  }

  async revision(): Promise<number> {
    return this.#read(() => this.#revision.answer())
  }

  async *history(
    prefix: string,
    since: number,
    until: number,
    signal: AbortSignal,
  ): AsyncGenerator<PastEvent[]> {
    this.#requireOpen()
    const range = {...this.#keys.range(prefix), since, until, signal}
    yield* readHistory(this.#gateway, this.#keys, range)
  }

  subscribe(prefix: string, since: number, subscriber: Subscriber): () => void {
    this.#requireOpen()
    const subscription = new Subscription({
      gateway: this.#gateway,
      keys: this.#keys,
      prefix,
      since,
      subscriber,
      tell: this.#tell,
      onOver: () => this.#subscriptions.delete(subscription),
    })
    this.#subscriptions.add(subscription)
    return () => subscription.stop()
  }

  async check(): Promise<void> {
    this.#requireOpen()
    if (performance.now() - this.#writtenAt < CHECK_EVERY) return
    await this.#read(() => {
      this.#checking ??= this.#writeCheck().finally(() => (this.#checking = undefined))
      return this.#checking
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Calls `release` once everything is closed. */
  closingWith(release: () => Promise<void>): this {
    this.#release = release
    return this
  }

  /** A key of the driver's own, beside those of the store; revision 0 and no value if it is not there. */
  async readOwn(name: string): Promise<{value?: Uint8Array; revision: number}> {
    return this.#read(async () => {
      const range = {key: this.#keys.own(name)}
      const {kvs} = await this.#gateway.call<WireRange>('kv/range', range)
      return kvs?.[0] ? this.#keys.entry(kvs[0]) : {revision: 0}
    })
  }

  /** Writes nothing if the key is at another revision: the caller reads what is there, as the answer may be that to a second attempt. */
  async writeOwn(name: string, value: string, revision: number): Promise<void> {
    const key = this.#keys.own(name)
    await this.#read(() =>
      this.#gateway.call<WireTxn>('kv/txn', {
        compare: [{key, target: 'MOD', result: 'EQUAL', mod_revision: String(revision)}],
        success: [{request_put: {key, value: base64(value)}}],
      }),
    )
  }

  /**
   * From now on nothing is written, and no revision is told, unless this key of the driver's own is at the revision. If it is at another
   * one, `judge` says whether to go on with that. If it throws anything but a failure of etcd, the store is lost to this process:
   * `onLost` gets the reason.
   */
  guardBy(
    name: string,
    revision: number,
    judge: Judge,
    onLost: (reason: unknown) => void = () => undefined,
  ): void {
    this.#guard = new Guard(this.#keys.own(name), revision, async () => {
      try {
        return await judge()
      } catch (error) {
        if (hasCode(error, 'STORE_UNREACHABLE', 'STORE_CLOSED')) throw error
        this.#lost ??= lostError(error)
        onLost(error)
        throw this.#lost
      }
    })
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#writes)
    for (const subscription of this.#subscriptions) subscription.stop()
    await this.#stopCompaction()
    await this.#gateway.close()
    await this.#release()
  }

  async #write(write: Write): Promise<StorageEvent> {
    this.#requireOpen()
    const done = this.#writeAndTell(write)
    this.#writes.add(done)
    try {
      return await done
    } finally {
      this.#writes.delete(done)
    }
  }

  async #writeAndTell(write: Write): Promise<StorageEvent> {
    const event = await this.#writer.write(write).catch((error: unknown) => {
      // Whether etcd still takes writes is asked again.
      if (!hasCode(error, 'ALREADY_EXISTS', 'CONFLICT', 'NOT_FOUND')) this.#writtenAt = -Infinity
      throw error
    })
    this.#writtenAt = performance.now()
    const concerned = [...this.#subscriptions].filter(({prefix}) => event.key.startsWith(prefix))
    await Promise.all(concerned.map((one) => one.heard(event.revision, HEARD_WITHIN)))
    return event
  }

  async #askRevision(): Promise<number> {
    const guard = this.#guard
    const probe = guard?.range ?? {key: this.#keys.own('probe'), count_only: true}
    // Also what only a write or a watch has named: memory may have it.
    const before = this.#gateway.seen
    const answer = await this.#gateway.call<WireRange>('kv/range', probe)
    const revision = revisionOf(answer)
    if (revision < before)
      throw new TrustError(
        'STORE_FOREIGN',
        `etcd has gone back from revision ${before} to ${revision}: it was restored from a backup`,
        {hints: ['restart every "trustadm serve" that uses it']},
      )
    await guard?.hasChanged(answer.kvs?.[0])
    for (const subscription of this.#subscriptions) subscription.expect(revision)
    return revision
  }

  async #writeCheck(): Promise<void> {
    const guard = this.#guard
    const put = {request_put: {key: this.#keys.own('check'), value: ''}}
    const {succeeded, responses} = await this.#gateway.call<WireTxn>('kv/txn', {
      compare: guard ? [guard.compare] : [],
      success: [put],
      failure: guard ? [{request_range: guard.range}] : [],
    })
    if (!succeeded) await guard?.hasChanged(responses?.[0]?.response_range?.kvs?.[0])
    this.#writtenAt = performance.now()
  }

  async #read<T>(work: () => Promise<T>): Promise<T> {
    this.#requireOpen()
    try {
      return await work()
    } catch (error) {
      throw storeError(error)
    }
  }

  #requireOpen(): void {
    if (this.#closing) throw closedError()
    if (this.#lost) throw this.#lost
  }
}

/** Without the slash, a key could be one of another prefix. */
function requireEtcdKey(key: string): void {
  requireKey(key)
  if (!key.startsWith('/')) throw new TrustError('INVALID', 'a key in etcd must start with "/"')
}

function entryOf({entry}: StorageEvent): Entry {
  if (!entry) throw new TrustError('INTERNAL', 'a write ended without an entry')
  return entry
}
