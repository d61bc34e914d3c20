import {conflict} from '../kernel/status.ts'
import type {Resource} from '../kernel/resource.ts'
import type {Registry} from './registry.ts'
import {parse, type StoredObject} from './stored-object.ts'

/**
 * Refuses to delete an object that others name as their owner, for a caller who wants to keep these: nothing here takes the
 * owner off them, and a garbage collector would delete them for it.
 */
export function requireNoDependents(
  registry: Registry,
  resource: Resource,
  owner: StoredObject,
): void {
  const {uid = ''} = parse(owner).metadata
  for (const store of registry.stores) {
    for (const stored of store.range('')) {
      // Most objects name no owner: their text need not be parsed to know that.
      if (stored.key === owner.key || !stored.json.includes(uid)) continue
      const owners = parse(stored).metadata.ownerReferences ?? []
      if (!owners.some((reference) => reference.uid === uid)) continue
      const why = `${store.resource.plural} "${stored.key}" would be deleted with it: take it out of their ownerReferences first, this server cannot orphan them`
      throw conflict(resource, owner.name, why)
    }
  }
}
