import type {ApiObject} from '../../api/meta.ts'
import {hasCode} from '../../errors.ts'
import {sleep} from '../../runtime.ts'
import type {Entry} from '../../storage/storage.ts'
import type {ObjectReader} from '../kernel/resource.ts'
import {deepCopy} from '../kernel/json-value.ts'
import {unavailable} from '../kernel/status.ts'
import {reach} from './freshness.ts'
import {changeSame, readAgain} from './later-changes.ts'
import {parse, toStored, type StoredObject} from './stored-object.ts'
import {takeBack} from './take-back.ts'
import {storableBytes, type WriteServices, type WriteTarget} from './write.ts'

/** How often an update is undone: each time, somebody else may have got what the object had before. */
const MOST_TRIES = 5
/** How often others may change the object, such as its status, before it can be undone. */
const MOST_OVERTAKEN = 32
/** By how many milliseconds each pause is longer than the one before: who changes the object in a loop must not win every time. */
const PAUSE = 3

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
      ? remove(services, target, written, mostTries)
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
 * Deletes a new object again. One that must not just vanish, because somebody has added a finalizer meanwhile, gets something else; one that
 * is being deleted is left alone. False if somebody has changed it, so that it is theirs by now, or deleted it.
 */
async function remove(
  services: WriteServices,
  target: WriteTarget,
  {object, key, revision: created}: Written,
  mostTries: number,
): Promise<boolean> {
  let revision = created
  for (let overtaken = 1; ; overtaken++) {
    if (await takeBack(services.registry, {key, revision})) return true
    await giveWay(overtaken)
    const current = await readAgain(services, target, key, object)
    if (current === undefined) return false
    const {deletionTimestamp, finalizers = []} = current.object.metadata
    if (deletionTimestamp !== undefined) return true
    if (finalizers.length > 0) return reassign(services, target, {...current, key}, mostTries)
    ;({revision} = current)
  }
}

/** Gives an object something else than what somebody had before it. */
function reassign(
  services: WriteServices,
  target: WriteTarget,
  written: Written,
  mostTries: number,
): Promise<boolean> {
  const {resource} = target.store
  const object = deepCopy(written.object)
  resource.strategy.reallocate?.(object, target.context)
  return settle(services, target, written, {object, json: toStored(written.object)}, mostTries)
}

/**
 * Makes the object what it was before an update, and keeps what others have changed in its metadata and status since. What it had then is
 * free since the update, and somebody may have got it: then it gets something else. False if somebody has changed anything else of the
 * object, so that it is theirs by now, or deleted it.
 */
function restore(
  services: WriteServices,
  target: WriteTarget,
  written: Written,
  before: StoredObject,
  mostTries: number,
): Promise<boolean> {
  const {json} = before
  return settle(services, target, written, {object: parse(before), json}, mostTries)
}

/** Stores what the object is to be instead, and again with something else, until it is the first to have it. */
async function settle(
  services: WriteServices,
  target: WriteTarget,
  written: Written,
  instead: {object: ApiObject; json: string},
  mostTries: number,
): Promise<boolean> {
  const {resource} = target.store
  const {key} = written
  let {object: stored, revision} = written
  let {object} = instead
  let tries = 1
  for (let overtaken = 1; ;) {
    const bytes = storableBytes(resource, toStored(object), instead.json)
    const saved = await unlessChanged(services.registry.storage.update(key, bytes, revision))
    if (saved === undefined) {
      await giveWay(overtaken++)
      const current = await readAgain(services, target, key, stored)
      if (current === undefined) return false
      object = changeSame(current.object, stored, object)
      stored = current.object
      ;({revision} = current)
      continue
    }
    ;({revision} = saved)
    if (tries++ >= mostTries || (await holdsFirst(services, target, {object, key, revision})))
      return true
    stored = deepCopy(object)
    resource.strategy.reallocate?.(object, target.context)
  }
}

async function unlessChanged(write: Promise<Entry>): Promise<Entry | undefined> {
  try {
    return await write
  } catch (error) {
    if (hasCode(error, 'CONFLICT', 'NOT_FOUND')) return undefined
    throw error
  }
}

/** Waits for whoever has just changed the object, a little longer each time. */
async function giveWay(overtaken: number): Promise<void> {
  if (overtaken >= MOST_OVERTAKEN)
    throw unavailable(
      'another object got the same address or port, and this one kept changing, so it could not be undone',
    )
  await sleep(overtaken * PAUSE)
}
