import type {ConfigMap} from '../api/core.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import {isNodeName} from '../csr/node-names.ts'
import type {Clock} from '../runtime.ts'
import {ALL_RECORDS, isAbandoned, nodeOf, readRecord} from './approval/node-record.ts'
import {atTheStart, type ControllerSpec} from './kernel/controller.ts'
import {slices} from './kernel/costly-work.ts'
import {SeenExpired} from './kernel/seen-expired.ts'
import type {Reconcile} from './kernel/work-queue.ts'

const HOUR = 3_600_000

/** A record as last seen: only this version is deleted. */
interface Seen {
  name: string
  node: string
  uid: string | undefined
  resourceVersion: string | undefined
}

type Writer = Pick<ApiClient, 'configMaps' | 'nodes'>

/** Deletes the records of unused names: their certificates have been expired for a good day, and there is no Node. */
export function cleanRecords(
  reader: Pick<ApiClient, 'configMaps'>,
  writer: Writer,
  clock: Clock,
  monotonic?: () => number,
): Reconcile {
  const looks = new SeenExpired(monotonic)

  async function remove({name, uid, resourceVersion}: Seen, signal: AbortSignal): Promise<void> {
    try {
      const key = {namespace: ALL_RECORDS.namespace, name}
      await writer.configMaps.delete(key, {uid, resourceVersion, signal})
    } catch (error) {
      // Deleted, or the name was given to a key in the meantime.
      if (!hasCode(error, 'NOT_FOUND', 'CONFLICT')) throw error
    }
  }

  return async (_key, signal) => {
    const now = clock.now()
    const pause = slices(signal)
    const abandoned = new Map<string, Seen>()
    const onPage = async (items: ConfigMap[]) => {
      for (const object of items) {
        await pause()
        if (!isAbandoned(readRecord(object), now)) continue
        const {name = '', uid, resourceVersion} = object.metadata
        // Somebody may have held the name since the last pass.
        const version = `${uid} ${resourceVersion}`
        abandoned.set(version, {name, node: nodeOf(object), uid, resourceVersion})
      }
    }
    await reader.configMaps.list({...ALL_RECORDS, signal, onPage})
    for (const version of looks.look(abandoned.keys())) {
      const seen = abandoned.get(version)
      if (!seen) continue
      const {node} = seen
      const isThere = isNodeName(node) && (await writer.nodes.find(node, {signal})) !== undefined
      if (!isThere) await remove(seen, signal)
    }
    return {requeueAfter: HOUR}
  }
}

export const nodeRecordCleanerController = (
  reader: ApiClient,
  writer: ApiClient,
  clock: Clock,
): ControllerSpec => ({
  name: 'node-record-cleaner',
  sources: [atTheStart],
  reconcile: cleanRecords(reader, writer, clock),
})
