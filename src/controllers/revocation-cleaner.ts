import type {ConfigMap, ObjectReference} from '../api/core.ts'
import type {ApiClient} from '../client/api-client.ts'
import {nodeUser} from '../csr/node-names.ts'
import {hasCode} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {
  REVOCATION_NAMES,
  REVOCATION_NAMESPACE,
  endOf,
  readRevocations,
  RevocationList,
  type ReadRevocations,
  type Revocation,
} from '../trust/revocations.ts'
import {ALL_RECORDS, nodeOf, readRecord} from './approval/node-record.ts'
import {entriesNeededBy} from './approval/revoked-certificates.ts'
import {follow, type ControllerSpec, type Copy} from './kernel/controller.ts'
import {EventReporter} from './kernel/events.ts'
import {SeenExpired} from './kernel/seen-expired.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

const COMPONENT = 'revocation-cleaner'
const HOUR = 3_600_000
const NAMES = new Set(REVOCATION_NAMES)
const MOST_QUOTED = 5

function quoted(keys: readonly string[]): string {
  const some = keys.slice(0, MOST_QUOTED).map((key) => `"${key}"`)
  const left = keys.length - some.length
  return `${some.join(', ')}${left > 0 ? ` and ${left} more` : ''}`
}

const referenceTo = ({metadata}: ConfigMap): ObjectReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: REVOCATION_NAMESPACE,
  ...(metadata.name === undefined ? {} : {name: metadata.name}),
  ...(metadata.uid === undefined ? {} : {uid: metadata.uid}),
})

/**
 * Of these entries, those that a record of a node's name still needs: the key that holds the name may take it again even when its certificate has
 * expired.
 */
async function needed(
  entries: readonly Revocation[],
  reader: Pick<ApiClient, 'configMaps'>,
  signal: AbortSignal,
): Promise<ReadonlySet<Revocation>> {
  const list = new RevocationList()
  list.set('', {revocations: [...entries]})
  const found = new Set<Revocation>()
  const onPage = (items: ConfigMap[]) => {
    for (const object of items) {
      const user = nodeUser(nodeOf(object))
      for (const one of entriesNeededBy(list, user, readRecord(object))) found.add(one)
    }
  }
  await reader.configMaps.list({...ALL_RECORDS, signal, onPage})
  return found
}

/** An entry whose end was moved is another one. */
const stateOf = (one: Revocation): string => `${one.id} ${endOf(one)}`

/**
 * Removes the entries of certificates that have been expired for a good day from the list of revoked ones, unless their key still holds
 * a node's name. Reports entries that cannot be read.
 */
export function cleanRevocations(
  lists: Pick<Copy<ConfigMap>, 'find'>,
  reader: Pick<ApiClient, 'configMaps'>,
  writer: Pick<ApiClient, 'configMaps' | 'events'>,
  clock: Clock,
  monotonic?: () => number,
): Reconcile {
  const events = new EventReporter(writer, COMPONENT, clock)
  const seen = new Map<string, SeenExpired>()

  async function report(list: ConfigMap, read: ReadRevocations, signal: AbortSignal) {
    const {unknown, unreadable} = read
    const problems = [
      ...(unknown.length > 0
        ? [`revokes nothing, for it names no key or serial number: ${quoted(unknown)}`]
        : []),
      ...(unreadable.length > 0
        ? [`in force, but never removed, for its details are unreadable: ${quoted(unreadable)}`]
        : []),
    ]
    for (const message of problems) {
      const happening = {type: 'Warning', reason: 'RevocationUnreadable', message} as const
      await events.report(referenceTo(list), happening, {signal})
    }
  }

  return async (key, signal) => {
    const list = await lists.find(key)
    if (list === undefined) return DONE
    const read = readRevocations(list.data)
    await report(list, read, signal)
    const now = clock.now().getTime()
    const expired = read.revocations.filter((one) => endOf(one) <= now)
    const next = Math.min(...read.revocations.map(endOf).filter((end) => end > now))
    const looks = seen.get(key) ?? new SeenExpired(monotonic)
    seen.set(key, looks)
    const due = looks.look(expired.map(stateOf))
    const removable = expired.filter((one) => due.has(stateOf(one)))
    if (removable.length > 0) {
      const held = await needed(removable, reader, signal)
      const unused = removable.filter((one) => !held.has(one))
      if (unused.length > 0) await remove(list, unused, signal)
    }
    const wait = Math.min(next - now, expired.length > 0 ? HOUR : Infinity)
    return wait === Infinity ? DONE : {requeueAfter: wait}
  }

  async function remove(list: ConfigMap, unused: readonly Revocation[], signal: AbortSignal) {
    const gone = new Set<string>(unused.map(({id}) => id))
    const data = Object.fromEntries(Object.entries(list.data ?? {}).filter(([id]) => !gone.has(id)))
    try {
      await writer.configMaps.update({...list, data}, {signal})
    } catch (error) {
      // Changed in the meantime: that event adds it again.
      if (!hasCode(error, 'NOT_FOUND', 'CONFLICT')) throw error
    }
  }
}

export function revocationCleanerController(
  reader: ApiClient,
  writer: ApiClient,
  clock: Clock,
): ControllerSpec {
  const lists = follow(
    reader.configMaps,
    ({metadata}, key) => (NAMES.has(metadata.name ?? '') ? [key] : []),
    {namespace: REVOCATION_NAMESPACE},
  )
  return {
    name: COMPONENT,
    sources: [lists],
    reconcile: cleanRevocations(lists, reader, writer, clock),
  }
}
