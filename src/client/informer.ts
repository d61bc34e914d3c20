import type {ApiObject, HeldObject} from '../api/meta.ts'
import {hasCode} from '../errors.ts'
import {sleep} from '../runtime.ts'
import {Backoff, type BackoffOptions} from './backoff.ts'
import {wasCut} from './connection-errors.ts'
import {InformerStore, type Change} from './informer-store.ts'
import {EncodedObject} from './encoded-object.ts'
import type {ResourceClient, SelectOptions} from './resource-client.ts'
import type {ObjectEvent, ReceivedEvent} from './watch.ts'

type ChangeHandler<T> = (change: Change<T>) => void

export interface InformerOptions<T> {
  signal: AbortSignal
  select?: Pick<SelectOptions, 'namespace' | 'labelSelector' | 'fieldSelector'> | undefined
  onChange?: ChangeHandler<T> | undefined
  /** Told of failures that the informer goes on after. */
  onError?: ((error: unknown) => void) | undefined
  backoff?: BackoffOptions | undefined
  /** How long one watch lasts before it is opened again; 5 to 10 minutes, as client-go. */
  watchSeconds?: number | undefined
}

/** A local copy of a resource that follows the server. */
export interface Informer<T> {
  /** Fulfilled when the first list is in; rejected if stopped before. */
  readonly synced: Promise<void>
  /** Fulfilled when it has stopped. */
  readonly stopped: Promise<void>
  readonly size: number
  get(key: string): T | undefined
  has(key: string): boolean
  list(): T[]
  /** Tells what is there and then every change, until the returned function is called. */
  subscribe(handler: ChangeHandler<T>): () => void
}

/** What an informer reads; events that arrive together are taken together if the source tells which do. */
export type InformerSource<T extends ApiObject> = Pick<ResourceClient<T>, 'list' | 'watch'> &
  Partial<Pick<ResourceClient<T>, 'watchBatches'>>

async function* singly<T>(
  events: AsyncIterable<ObjectEvent<T>>,
): AsyncGenerator<ReceivedEvent<T>[]> {
  for await (const event of events) {
    const {type, held} = event
    yield [held ? {type, held} : {type, object: event.object}]
  }
}

/** A watch that ends sooner than this without an event counts as a failure. */
const TOO_SHORT = 1000

/**
 * Lists, then watches, as a client-go reflector: goes on from the last resourceVersion after a cut,
 * lists again where that is too old, and then tells just the difference.
 */
export function startInformer<T extends ApiObject>(
  source: InformerSource<T>,
  options: InformerOptions<T>,
): Informer<T> {
  const {signal, select = {}, onError} = options
  const store = new InformerStore<T>()
  const backoff = new Backoff(options.backoff)
  const handlers = new Set<ChangeHandler<T>>(options.onChange ? [options.onChange] : [])
  let markSynced: () => void
  let giveUp: (reason: unknown) => void
  const synced = new Promise<void>((resolve, reject) => {
    markSynced = resolve
    giveUp = reject
  })
  // Nobody has to wait for it.
  synced.catch(() => undefined)

  const attempt = (work: () => void) => {
    try {
      work()
    } catch (error) {
      onError?.(error)
    }
  }
  const tell = (change: Change<T>) => {
    for (const handler of handlers) attempt(() => handler(change))
  }

  async function relist(): Promise<void> {
    let kept: HeldObject<T>[] = []
    const onHeldPage = (items: HeldObject<T>[], isFirst: boolean) => {
      if (isFirst) kept = []
      for (const item of items) kept.push(item)
    }
    const {items, metadata} = await source.list({...select, signal, onHeldPage})
    // Of a source that knows no pages.
    for (const item of items) kept.push(new EncodedObject(item))
    store.replace(kept, metadata.resourceVersion ?? '').forEach(tell)
    markSynced()
  }

  async function follow(): Promise<void> {
    const started = performance.now()
    const timeoutSeconds = options.watchSeconds ?? Math.round(300 * (1 + Math.random()))
    const {resourceVersion} = store
    const watching = {...select, resourceVersion, timeoutSeconds, signal}
    for await (const events of source.watchBatches?.(watching) ?? singly(source.watch(watching))) {
      backoff.reset()
      for (const event of events) {
        const change = store.take(event)
        if (change) tell(change)
      }
    }
    if (performance.now() - started < TOO_SHORT && store.resourceVersion === resourceVersion) {
      await sleep(backoff.next(), signal)
    }
  }

  async function run(): Promise<void> {
    let stale = true
    while (!signal.aborted) {
      try {
        if (stale) await relist()
        stale = false
        await follow()
      } catch (error) {
        if (signal.aborted) break
        // After a mere cut the watch goes on; after anything else the server may be another one.
        stale ||= !wasCut(error) && !hasCode(error, 'TIMED_OUT', 'TOO_MANY_REQUESTS')
        if (!hasCode(error, 'EXPIRED')) attempt(() => onError?.(error))
        await sleep(backoff.next(), signal).catch(() => undefined)
      }
    }
    giveUp(signal.reason)
    handlers.clear()
  }

  return {
    synced,
    stopped: run(),
    get size() {
      return store.size
    },
    get: (key) => store.get(key),
    has: (key) => store.has(key),
    list: () => store.values(),
    subscribe(handler) {
      handlers.add(handler)
      for (const change of store.additions()) attempt(() => handler(change))
      return () => handlers.delete(handler)
    },
  }
}
