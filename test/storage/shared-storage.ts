import {TrustError} from '../../src/errors.ts'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import type {
  Entry,
  RangeOptions,
  Storage,
  StorageEvent,
  Subscriber,
} from '../../src/storage/storage.ts'

/** A store that several processes write to, beside other programs. */
export class SharedStore {
  readonly storage = openMemoryStorage()
  #foreign = 0

  /** As one process sees it. */
  open(): SharedStorage {
    return new SharedStorage(this)
  }

  /** Another program uses up a revision. */
  async writeForeign(): Promise<number> {
    const key = `other-program/${this.#foreign++}`
    return (await this.storage.create(key, new Uint8Array(1))).revision
  }
}

/**
 * One process's handle. It hears of changes some time after they were made, and of the revisions of other keys only when it asks for
 * the current one. `hold` delays what it hears, `loseEvents` drops it.
 */
export class SharedStorage implements Storage {
  readonly isShared = true
  readonly #store: SharedStore
  readonly #followers = new Set<Follower>()
  #isHeld = false
  #isClosed = false
  /** What reads throw. */
  failure: Error | undefined

  constructor(store: SharedStore) {
    this.#store = store
  }

  hold(): void {
    this.#isHeld = true
  }

  release(): void {
    this.#isHeld = false
    this.#deliver()
  }

  /** What it has not heard yet, and whatever is to come, it will never hear. */
  loseEvents(): void {
    for (const follower of this.#followers) follower.lose()
    this.#followers.clear()
  }

  create(key: string, value: Uint8Array): Promise<Entry> {
    return this.#write((storage) => storage.create(key, value))
  }

  update(key: string, value: Uint8Array, revision: number): Promise<Entry> {
    return this.#write((storage) => storage.update(key, value, revision))
  }

  delete(key: string, revision: number): Promise<{revision: number}> {
    return this.#write((storage) => storage.delete(key, revision))
  }

  async get(key: string): Promise<Entry | undefined> {
    return this.#open().get(key)
  }

  async list(prefix: string, options?: RangeOptions) {
    if (this.failure) throw this.failure
    return this.#open().list(prefix, options)
  }

  async revision(): Promise<number> {
    const revision = await this.#open().revision()
    for (const follower of this.#followers) follower.expect(revision)
    this.#deliver()
    return revision
  }

  history(prefix: string, since: number, until: number, signal: AbortSignal) {
    return this.#open().history(prefix, since, until, signal)
  }

  subscribe(prefix: string, since: number, subscriber: Subscriber): () => void {
    const follower = new Follower(this.#open(), {prefix, since, subscriber}, () => this.#deliver())
    this.#followers.add(follower)
    this.#deliver()
    return () => {
      follower.stop()
      this.#followers.delete(follower)
    }
  }

  async check(): Promise<void> {
    await this.#open().check()
  }

  close(): Promise<void> {
    this.#isClosed = true
    for (const follower of this.#followers) follower.stop()
    this.#followers.clear()
    return Promise.resolve()
  }

  /** Every write leaves a gap behind it, and resolves once this process has heard of it. */
  async #write<T extends {revision: number}>(write: (storage: Storage) => Promise<T>): Promise<T> {
    const done = await write(this.#open())
    await this.#store.writeForeign()
    await Promise.all([...this.#followers].map((follower) => follower.heard(done.revision)))
    return done
  }

  #open(): Storage {
    if (this.#isClosed) throw new TrustError('STORE_CLOSED', 'the store is closed')
    return this.#store.storage
  }

  #deliver(): void {
    setImmediate(() => {
      if (!this.#isHeld) for (const follower of this.#followers) follower.deliver()
    })
  }
}

class Follower {
  readonly #subscriber: Subscriber
  readonly stop: () => void
  #waiting: {revision: number; events: StorageEvent[]}[] = []
  #expected = 0
  #heard: number
  #isOver = false
  readonly #listeners: {revision: number; resolve: () => void}[] = []

  constructor(
    storage: Storage,
    {prefix, since, subscriber}: {prefix: string; since: number; subscriber: Subscriber},
    onNews: () => void,
  ) {
    this.#subscriber = subscriber
    this.#heard = since
    const stop = storage.subscribe(prefix, since, {
      advance: (revision, events) => {
        if (events.length === 0) return
        this.#waiting.push({revision, events})
        onNews()
      },
      lost: () => this.lose(),
    })
    this.stop = () => {
      this.#isOver = true
      stop()
      this.#settle()
    }
  }

  /** The subscriber is to hear that there is nothing else up to here. */
  expect(revision: number): void {
    this.#expected = Math.max(this.#expected, revision)
  }

  async heard(revision: number): Promise<void> {
    if (this.#isOver || this.#heard >= revision) return
    await new Promise<void>((resolve) => this.#listeners.push({revision, resolve}))
  }

  deliver(): void {
    if (this.#isOver) return
    for (const {revision, events} of this.#waiting.splice(0)) {
      this.#heard = revision
      this.#subscriber.advance(revision, events)
    }
    if (this.#expected > this.#heard) {
      this.#heard = this.#expected
      this.#subscriber.advance(this.#heard, [])
    }
    this.#settle()
  }

  lose(): void {
    if (this.#isOver) return
    this.stop()
    this.#subscriber.lost()
  }

  #settle(): void {
    for (const listener of this.#listeners)
      if (this.#isOver || listener.revision <= this.#heard) listener.resolve()
  }
}
