import {setMaxListeners} from 'node:events'
import type {ApiObject} from '../../api/meta.ts'
import type {Informer, InformerOptions} from '../../client/informer.ts'
import type {ResourceClient} from '../../client/resource-client.ts'
import {shareInformer} from '../../client/shared-informer.ts'
import type {Live} from '../../trust/live.ts'
import {type Reconcile, WorkQueue, type WorkQueueOptions} from './work-queue.ts'

/** A number that is measured when the metrics are read. */
export interface Measured {
  labels: readonly string[]
  value: number
}

/** Where a controller registers its metrics, in Prometheus' terms. */
export interface Meter {
  measured(
    metric: {name: string; help: string},
    type: 'counter' | 'gauge',
    measure: () => Iterable<Measured>,
  ): void
}

/** What a controller watches, and which keys a change concerns. */
export interface Source {
  start(options: {
    signal: AbortSignal
    enqueue: (key: string) => void
    onError: (error: unknown) => void
  }): {
    synced: Promise<void>
    stopped: Promise<void>
  }
}

/** The keys that a change of an object concerns: none, its own, or others. */
type KeysOf<T> = (object: T, key: string) => Iterable<string>

/** A resource as a controller has seen it so far: read without a call to the server, and not to be changed in place. */
export interface Copy<T> {
  /** By `namespace/name`. Waits for the first list, so that "missing" never means "not read yet". */
  find(key: string): Promise<T | undefined>
  /** As `find`, without reading the object. */
  has(key: string): Promise<boolean>
  list(): Promise<T[]>
}

/** Watches a resource. Keys come from the state before a change and from the state after it. */
export function follow<T extends ApiObject>(
  resource: Pick<ResourceClient<T>, 'list' | 'watch'>,
  keysOf: KeysOf<T>,
  select: InformerOptions<T>['select'] = {},
): Source & Copy<T> {
  let informer: Informer<T> | undefined
  return {
    start: ({signal, enqueue, onError}) =>
      (informer = shareInformer(resource, {
        signal,
        select,
        onError,
        onChange: ({key, current, previous}) => {
          for (const object of [current, previous])
            if (object !== undefined) for (const one of keysOf(object, key)) enqueue(one)
        },
      })),
    async find(key) {
      await informer?.synced
      return informer?.get(key)
    },
    async has(key) {
      await informer?.synced
      return informer?.has(key) ?? false
    },
    async list() {
      await informer?.synced
      return informer?.list() ?? []
    },
  }
}

/** Watches a value that is replaced as a whole: each new value concerns all of these keys. */
export const followLive = (
  live: Pick<Live<unknown>, 'subscribe'>,
  keys: () => Promise<Iterable<string>>,
): Source => ({
  start({signal, enqueue, onError}) {
    const enqueueAll = async () => {
      for (const key of await keys()) enqueue(key)
    }
    const leave = live.subscribe(() => void enqueueAll().catch(onError))
    signal.addEventListener('abort', leave, {once: true})
    return {synced: Promise.resolve(), stopped: Promise.resolve()}
  },
})

export interface ControllerSpec {
  name: string
  sources: Source[]
  reconcile: Reconcile
  workers?: number
  backoff?: NonNullable<WorkQueueOptions['backoff']>
}

export interface RunningController {
  name: string
  /** Fulfilled when everything that existed at the start has been seen. */
  synced: Promise<void>
  close(): Promise<void>
}

/** Nobody may be waiting for it: if the controller stops first, an unhandled rejection must not end the process. */
export function whenAll(started: readonly {synced: Promise<void>}[]): Promise<void> {
  const all = Promise.all(started.map(({synced}) => synced)).then(() => undefined)
  all.catch(() => undefined)
  return all
}

export type OnControllerError = (controller: string, key: string, error: unknown) => void

/** Reads what it watches at once, and reconciles from `begin` on. */
export function startController(
  {name, sources, reconcile, workers = 1, backoff}: ControllerSpec,
  onError: OnControllerError,
  begin?: Promise<void>,
): RunningController {
  const stop = new AbortController()
  // Each of its sources adds listeners.
  setMaxListeners(0, stop.signal)
  const queue = new WorkQueue(reconcile, {
    workers,
    begin,
    ...(backoff === undefined ? {} : {backoff}),
    onError: (key, error) => onError(name, key, error),
  })
  const running = sources.map((source) =>
    source.start({
      signal: stop.signal,
      enqueue: (key) => queue.add(key),
      onError: (error) => onError(name, '', error),
    }),
  )
  return {
    name,
    synced: whenAll(running),
    async close() {
      stop.abort(new Error('the controller is stopping'))
      await queue.close()
      await Promise.all(running.map(({stopped}) => stopped))
    },
  }
}

/** One pass at the start; each pass schedules the next. */
export const atTheStart: Source = {
  start({enqueue}) {
    enqueue('all')
    return {synced: Promise.resolve(), stopped: Promise.resolve()}
  },
}
