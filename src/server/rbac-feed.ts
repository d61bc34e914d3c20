import type {RbacIndex, RbacKind} from './authz/rbac/rbac-index.ts'
import type {Registry} from './registry/registry.ts'
import {parse} from './registry/stored-object.ts'

const GROUP = 'rbac.authorization.k8s.io'
const KINDS: [string, RbacKind][] = [
  ['clusterroles', 'ClusterRole'],
  ['clusterrolebindings', 'ClusterRoleBinding'],
  ['roles', 'Role'],
  ['rolebindings', 'RoleBinding'],
]

/** Keeps the RBAC index in step with the stored roles and bindings, commit by commit. */
export function feedRbacIndex(registry: Registry, index: RbacIndex): void {
  for (const [plural, kind] of KINDS) {
    const store = registry.store(GROUP, plural)
    if (store === undefined) continue
    for (const stored of store.range('')) index.upsert(kind, parse(stored))
    store.onEvents((events) => {
      for (const {current, previous} of events) {
        if (current !== undefined) index.upsert(kind, parse(current))
        else if (previous !== undefined) index.remove(kind, previous.namespace, previous.name)
      }
    })
  }
}
