import type {ApiObject} from '../../api/meta.ts'
import {hasCode} from '../../errors.ts'
import type {ObjectReader} from '../kernel/resource.ts'
import {unavailable} from '../kernel/status.ts'
import {reach} from './freshness.ts'
import {parse, toStored, type StoredObject} from './stored-object.ts'
import {takeBack} from './take-back.ts'
import {storableBytes, type WriteServices, type WriteTarget} from './write.ts'

/** How often an update is undone: each time, somebody else may have got what the object had before. */
const MOST_TRIES = 5

/** An object as it was just stored. */
interface Written {
  object: ApiObject
  key: string
  revision: number
}

/**
 * Undoes a write if another server has given the same address or port to another object between the check and the write. Of two, the
 * later one goes. Its writer is asked to try again: it may not have chosen the address itself. `before` is absent for a create.
 */
export async function requireFirst(
  services: WriteServices,
  target: WriteTarget,
  written: Written,
  before?: StoredObject,
): Promise<void> {
  if (target.store.resource.allocates !== true || target.context.subresource !== '') return
  const undo = (mostTries: number) =>
    before === undefined
      ? takeBack(services.registry, written)
      : restore(services, target, written, before, mostTries)
  let isFirst: boolean
  try {
    isFirst = await holdsFirst(services, target, written)
  } catch (error) {
    // It cannot be checked, so it must not stay.
    if (await undo(1)) throw error
    return
  }
  if (!isFirst && (await undo(MOST_TRIES)))
    throw unavailable('another one got the same address or port at the same time')
}

/** Whether nobody else had any of it when the object was written. */
async function holdsFirst(
  {registry}: WriteServices,
  {store, context}: WriteTarget,
  {object, revision}: Written,
): Promise<boolean> {
  const {strategy, plural, group} = store.resource
  const isAlone = (objects: ObjectReader) =>
    (strategy.validate?.(object, {...context, objects}) ?? []).length === 0
  await reach(registry, revision, {})
  const {objects} = context
  if (isAlone(objects)) return true
  // Those who have come later since undo their own writes.
  const {entries} = await registry.storage.list(store.prefix, {revision})
  const then = entries.flatMap((entry) => store.decode(entry) ?? []).map(parse)
  return isAlone({
    get: objects.get.bind(objects),
    list: (of, ofGroup, namespace) =>
      of === plural && ofGroup === group ? then : objects.list(of, ofGroup, namespace),
  })
}

/**
 * Makes the object what it was before an update. What it had then is free since the update, and somebody may have got it: then it gets
 * something else. False if somebody else has changed or deleted the object, so that it is theirs by now.
 */
async function restore(
  services: WriteServices,
  target: WriteTarget,
  {key, revision: undone}: Written,
  before: StoredObject,
  mostTries: number,
): Promise<boolean> {
  const {resource} = target.store
  const object = parse(before)
  let revision = undone
  try {
    for (let tries = 1; ; tries++) {
      const bytes = storableBytes(resource, toStored(object), before.json)
      ;({revision} = await services.registry.storage.update(key, bytes, revision))
      if (tries === mostTries || (await holdsFirst(services, target, {object, key, revision})))
        return true
      resource.strategy.reallocate?.(object, target.context)
    }
  } catch (error) {
    if (hasCode(error, 'CONFLICT', 'NOT_FOUND')) return false
    throw error
  }
}
