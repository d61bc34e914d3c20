import type {ApiObject} from '../../api/meta.ts'
import {hasCode} from '../../errors.ts'
import {invalid} from '../kernel/status.ts'
import {catchUp, reach} from './freshness.ts'
import type {WriteServices, WriteTarget} from './write.ts'

/** Not the key of an object. */
const WHOLE_RANGE = ''

/**
 * Lets the writers of objects that share a range work in sequence, each with everything that any server has acknowledged. Returns the
 * function that ends the turn.
 */
export async function allocationTurn(
  {registry}: WriteServices,
  {store, context}: WriteTarget,
): Promise<() => void> {
  if (store.resource.allocates !== true || context.subresource !== '') return () => undefined
  const endTurn = await store.turns.take(WHOLE_RANGE)
  try {
    await catchUp(registry)
    return endTurn
  } catch (error) {
    endTurn()
    throw error
  }
}

/**
 * Deletes a new object again if another server has stored one with the same address or port between the check and the write. Of two, the
 * later one goes: only that one has the other before it.
 */
export async function requireFirst(
  {registry}: WriteServices,
  {store, context}: WriteTarget,
  object: ApiObject,
  revision: number,
): Promise<void> {
  const {resource} = store
  if (resource.allocates !== true) return
  await reach(registry, revision, {})
  const isEarlier = ({metadata}: ApiObject) => Number(metadata.resourceVersion) < revision
  const {objects} = context
  const earlier = {
    get: objects.get.bind(objects),
    list: (...of: Parameters<typeof objects.list>) => objects.list(...of).filter(isEarlier),
  }
  const errors = resource.strategy.validate?.(object, {...context, objects: earlier}) ?? []
  if (errors.length === 0) return
  const name = object.metadata.name ?? ''
  try {
    await registry.storage.delete(store.storageKey(context.namespace, name), revision)
  } catch (error) {
    // Somebody has changed or deleted it, so it is theirs by now.
    if (hasCode(error, 'CONFLICT', 'NOT_FOUND')) return
    throw error
  }
  throw invalid(resource, name, errors)
}
