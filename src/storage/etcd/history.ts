import {hasCode} from '../../errors.ts'
import {every} from '../../runtime.ts'
import type {PastEvent} from '../storage.ts'
import {storeError} from './failure.ts'
import type {Gateway} from './gateway.ts'
import {numberOf, type EtcdKeys, type WireEvent} from './messages.ts'
import {WatchStream, type WatchBatch, type WatchRequest} from './watch-stream.ts'

const ASK_EVERY = 20
const SILENT_FOR = 3_000
const MOST_CUTS = 5

/** The past changes above `since` up to `until`, which etcd has reached; a watch that is cut is continued elsewhere. */
export async function* readHistory(
  gateway: Gateway,
  keys: EtcdKeys,
  {until, signal, ...range}: Omit<WatchRequest, 'prev_kv'> & {until: number; signal: AbortSignal},
): AsyncGenerator<PastEvent[]> {
  let {since} = range
  for (let cuts = 0; since < until && !signal.aborted; cuts++) {
    try {
      for await (const {through, events} of readOnce(gateway, {...range, since}, signal)) {
        cuts = 0
        const wanted = events.filter(({kv}) => isWithin(numberOf(kv.mod_revision), since, until))
        since = Math.max(since, through)
        if (wanted.length > 0) yield wanted.map((event) => toPastEvent(event, keys))
        if (since >= until) return
      }
    } catch (error) {
      if (signal.aborted) return
      if (hasCode(error, 'STORE_COMPACTED') || cuts >= MOST_CUTS) throw storeError(error)
      await gateway.pause(ASK_EVERY)
    }
  }
}

/** One watch until it is cut, with questions for its progress, because nothing else says that there is no more. */
async function* readOnce(
  gateway: Gateway,
  range: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<WatchBatch> {
  const stream = await WatchStream.open(gateway, {...range, prev_kv: true})
  const close = () => stream.close()
  let isRead = true
  signal.addEventListener('abort', close, {once: true})
  const stopAsking = every(ASK_EVERY, () => {
    if (!isRead) return
    if (performance.now() - stream.heardAt > SILENT_FOR) stream.close()
    else stream.requestProgress()
  })
  stream.requestProgress()
  try {
    for await (const batch of stream.batches()) {
      isRead = false
      yield batch
      // The reader may have taken long, and nothing is read from the connection meanwhile.
      stream.heardAt = performance.now()
      isRead = true
    }
  } finally {
    stopAsking()
    signal.removeEventListener('abort', close)
    stream.close()
  }
}

const isWithin = (revision: number, since: number, until: number): boolean =>
  revision > since && revision <= until

function toPastEvent({type, kv, prev_kv}: WireEvent, keys: EtcdKeys): PastEvent {
  const key = keys.decode(kv.key)
  const revision = numberOf(kv.mod_revision)
  const previous = prev_kv ? {previous: keys.entry(prev_kv)} : {}
  if (type === 'DELETE') return {type: 'delete', key, revision, ...previous}
  return {type: 'put', key, revision, entry: keys.entry(kv), ...previous}
}
