import {conflict} from '../kernel/status.ts'
import type {Resource} from '../kernel/resource.ts'
import type {Registry} from './registry.ts'
import {parse, type StoredObject} from './stored-object.ts'

/**
 * Refuses to delete an owner whose dependents the caller wants to keep. Nothing here removes the owner reference from the
 * dependents, so a garbage collector would delete them.
 */
export function requireNoDependents(
  registry: Registry,
  resource: Resource,
  owner: StoredObject,
): void {
  const {uid = ''} = parse(owner).metadata
  for (const store of registry.stores) {
    for (const stored of store.range('')) {
      // Most objects have no owner, which shows without parsing the text.
      if (stored.key === owner.key || !stored.json.includes(uid)) continue
      const owners = parse(stored).metadata.ownerReferences ?? []
      if (!owners.some((reference) => reference.uid === uid)) continue
      const why = `${store.resource.plural} "${stored.key}" would be deleted with it: take it out of their ownerReferences first, this server cannot orphan them`
      throw conflict(resource, owner.name, why)
    }
  }
}
