import type {ApiObject} from '../../api/meta.ts'
import {hasCode} from '../../errors.ts'
import {sleep} from '../../runtime.ts'
import {unavailable} from '../kernel/status.ts'
import {catchUp, reach} from './freshness.ts'
import type {KeyedLock} from './resource-store.ts'
import type {WriteServices, WriteTarget} from './write.ts'

/** Not the key of an object. */
const WHOLE_RANGE = ''
/** In milliseconds. With a slow store, those at the end of the line are better off asking again. */
const LONGEST_WAIT = 5000

/**
 * Lets the writers of objects that share a range work in sequence, each with everything that any server has acknowledged. Returns the
 * function that ends the turn.
 */
export async function allocationTurn(
  {registry}: WriteServices,
  {store, context}: WriteTarget,
  longestWait = LONGEST_WAIT,
): Promise<() => void> {
  const {resource, turns} = store
  if (resource.allocates !== true || context.subresource !== '' || context.dryRun)
    return () => undefined
  const endTurn = await turnIn(turns, resource.plural, longestWait)
  try {
    await catchUp(registry)
    return endTurn
  } catch (error) {
    endTurn()
    throw error
  }
}

async function turnIn(turns: KeyedLock, what: string, longestWait: number): Promise<() => void> {
  const turn = turns.take(WHOLE_RANGE)
  const waiting = new AbortController()
  const tooLong = sleep(longestWait, waiting.signal).catch(() => undefined)
  const endTurn = await Promise.race([turn, tooLong])
  waiting.abort()
  if (endTurn) return endTurn
  void turn.then((end) => end())
  throw unavailable(`too many ${what} are written at the same time`)
}

/**
 * Deletes a new object again if another server has stored one with the same address or port between the check and the write. Of two, the
 * later one goes: only that one has the other before it. Its writer is asked to try again: it may not have chosen the address itself.
 */
export async function requireFirst(
  {registry}: WriteServices,
  {store, context}: WriteTarget,
  object: ApiObject,
  revision: number,
): Promise<void> {
  const {resource} = store
  if (resource.allocates !== true) return
  const key = store.storageKey(context.namespace, object.metadata.name ?? '')
  try {
    await reach(registry, revision, {})
  } catch (error) {
    // It cannot be checked, so it must not stay.
    if (await isTakenBack(registry, key, revision)) throw error
    return
  }
  const {objects} = context
  const isEarlier = await earlierThan(registry, {store, context}, revision)
  const earlier = {
    get: objects.get.bind(objects),
    list: (...of: Parameters<typeof objects.list>) => objects.list(...of).filter(isEarlier),
  }
  const errors = resource.strategy.validate?.(object, {...context, objects: earlier}) ?? []
  if (errors.length > 0 && (await isTakenBack(registry, key, revision)))
    throw unavailable('another one got the same address or port at the same time')
}

/** An object may have been created before the revision and updated after it. */
async function earlierThan(
  {storage}: WriteServices['registry'],
  {store, context: {objects}}: Pick<WriteTarget, 'store' | 'context'>,
  revision: number,
): Promise<(object: ApiObject) => boolean> {
  const {plural, group} = store.resource
  const revisionOf = ({metadata}: ApiObject) => Number(metadata.resourceVersion)
  const created = new Map<string | undefined, number>()
  for (const {metadata} of objects
    .list(plural, group)
    .filter((one) => revisionOf(one) > revision)) {
    const {namespace = '', name = '', uid} = metadata
    const entry = await storage.get(store.storageKey(namespace, name))
    created.set(uid, entry?.created ?? Infinity)
  }
  return (one) => (created.get(one.metadata.uid) ?? revisionOf(one)) < revision
}

/** False if somebody has changed or deleted it, so that it is theirs by now. */
export async function isTakenBack(
  {storage}: WriteServices['registry'],
  key: string,
  revision: number,
): Promise<boolean> {
  try {
    await storage.delete(key, revision)
    return true
  } catch (error) {
    if (hasCode(error, 'CONFLICT', 'NOT_FOUND')) return false
    throw error
  }
}
