/** A value that is replaced, always as a whole, while the process runs. */
export interface Live<Value> {
  readonly current: Value
  /** Calls back with every new value, once it is the current one. Returns a function that unsubscribes. */
  subscribe(changed: Subscriber<Value>): () => void
}

/** Receives a new value. Returns a promise if there is something to wait for. */
export type Subscriber<Value> = (value: Value) => void | Promise<void>

/** A part of a live value. */
export const select = <Value, Part>(
  live: Live<Value>,
  part: (value: Value) => Part,
): Live<Part> => ({
  get current() {
    return part(live.current)
  },
  subscribe: (changed) => live.subscribe((value) => changed(part(value))),
})

/** A value that never changes, for those who expect one that may. */
export const constantly = <Value>(current: Value): Live<Value> => ({
  current,
  subscribe: () => () => undefined,
})

/** A live value that its owner replaces. */
export class Replaceable<Value> implements Live<Value> {
  readonly #subscribers = new Set<Subscriber<Value>>()
  #current: Value

  constructor(first: Value) {
    this.#current = first
  }

  get current(): Value {
    return this.#current
  }

  subscribe(changed: Subscriber<Value>): () => void {
    this.#subscribers.add(changed)
    return () => this.#subscribers.delete(changed)
  }

  /** Resolves once all subscribers have followed. */
  async replace(value: Value): Promise<void> {
    this.#current = value
    await Promise.all([...this.#subscribers].map(async (changed) => changed(value)))
  }
}

/** Reads the whole value. Its generation is 1 at first, and one more each time. */
export type Read<Value> = (generation: number) => Promise<Value>

/** A live value that is read from files, again at every reload. */
export class Reloadable<Value> implements Live<Value> {
  readonly #read: Read<Value>
  readonly #onError: (error: unknown) => void
  readonly #subscribers = new Set<Subscriber<Value>>()
  #current: Value
  #generation = 1
  #reloads: Promise<void> = Promise.resolve()

  private constructor(first: Value, read: Read<Value>, onError: (error: unknown) => void) {
    this.#current = first
    this.#read = read
    this.#onError = onError
  }

  /** `onError` receives the errors of subscribers. They cannot refuse a value: `read` must not return an invalid one. */
  static async open<Value>(
    read: Read<Value>,
    onError: (error: unknown) => void,
  ): Promise<Reloadable<Value>> {
    return new Reloadable(await read(1), read, onError)
  }

  get current(): Value {
    return this.#current
  }

  subscribe(changed: Subscriber<Value>): () => void {
    this.#subscribers.add(changed)
    return () => this.#subscribers.delete(changed)
  }

  /** Resolves once all subscribers have been updated. If reading fails, it throws and nothing changes. Reloads run one after the other, so that the newest files win. */
  reload(): Promise<void> {
    const reloaded = this.#reloads.then(() => this.#replace())
    this.#reloads = reloaded.catch(() => undefined)
    return reloaded
  }

  async #replace(): Promise<void> {
    const value = await this.#read(this.#generation + 1)
    this.#generation += 1
    this.#current = value
    const followed = [...this.#subscribers].map(async (changed) => changed(value))
    for (const outcome of await Promise.allSettled(followed))
      if (outcome.status === 'rejected') this.#onError(outcome.reason)
  }
}
