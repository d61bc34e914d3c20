import type {ApiObject} from '../api/meta.ts'
import {untilAborted} from './cancellation.ts'
import {
  startInformer,
  type Informer,
  type InformerOptions,
  type InformerSource,
} from './informer.ts'

type SharedOptions<T> = Pick<InformerOptions<T>, 'signal' | 'select' | 'onChange' | 'onError'>

interface Running {
  informer: Informer<ApiObject>
  stop: AbortController
  /** Those of everybody who shares it. */
  onErrors: Set<(error: unknown) => void>
}

/** Those that were started in this turn, by what is selected: their first list is still to come. */
const fresh = new WeakMap<object, Map<string, Running>>()

/**
 * One informer for all who start to follow the same selection of the same resource of one client in the same turn: an event is
 * received, and kept, once for all of them. It stops with the last of them. Whoever comes later gets a new one, because to begin,
 * say to lead, means to have seen everything that was there by then.
 */
export function shareInformer<T extends ApiObject>(
  source: InformerSource<T>,
  {signal, select = {}, onChange, onError = () => undefined}: SharedOptions<T>,
): Informer<T> {
  const shared = join(source, select, onError)
  const informer = shared.informer as unknown as Informer<T>
  let leave: () => void = () => undefined
  const subscribe = () => {
    if (onChange === undefined || signal.aborted) return
    leave = informer.subscribe((change) => {
      try {
        onChange(change)
      } catch (error) {
        onError(error)
      }
    })
  }
  // Not before this function has returned: the first changes may make the caller use the informer.
  const subscribed = Promise.resolve().then(subscribe)
  const synced = untilAborted(
    subscribed.then(() => informer.synced),
    signal,
  )
  synced.catch(() => undefined)
  const stopped = new Promise<void>((resolve) => {
    const end = () => {
      leave()
      resolve(part(shared, onError))
    }
    signal.addEventListener('abort', end, {once: true})
    if (signal.aborted) end()
  })
  return {
    synced,
    stopped,
    get size() {
      return informer.size
    },
    get: (key) => informer.get(key),
    has: (key) => informer.has(key),
    list: () => informer.list(),
    subscribe: (handler) => informer.subscribe(handler),
  }

  async function part({informer: last, onErrors, stop}: Running, own: typeof onError) {
    onErrors.delete(own)
    if (onErrors.size > 0) return
    stop.abort(signal.reason)
    await last.stopped
  }
}

function join<T extends ApiObject>(
  source: InformerSource<T>,
  select: NonNullable<SharedOptions<T>['select']>,
  onError: (error: unknown) => void,
): Running {
  const bySelection = fresh.get(source) ?? new Map<string, Running>()
  fresh.set(source, bySelection)
  const key = keyOf(select)
  const known = bySelection.get(key)
  if (known?.stop.signal.aborted === false) {
    known.onErrors.add(onError)
    return known
  }
  const stop = new AbortController()
  const onErrors = new Set([onError])
  const informer = startInformer<T>(source, {
    signal: stop.signal,
    select,
    onError: (error) => {
      for (const tell of onErrors) tell(error)
    },
  })
  const begun = {informer: informer as unknown as Informer<ApiObject>, stop, onErrors}
  bySelection.set(key, begun)
  queueMicrotask(() => bySelection.delete(key))
  return begun
}

const keyOf = ({
  namespace,
  labelSelector,
  fieldSelector,
}: NonNullable<SharedOptions<ApiObject>['select']>) =>
  JSON.stringify([namespace, labelSelector, fieldSelector])
