import {isDeepStrictEqual} from 'node:util'
import type {ConfigMap} from '../../api/core.ts'
import type {ApiObject} from '../../api/meta.ts'
import type {ClusterRole, ClusterRoleBinding, Role, RoleBinding} from '../../api/rbac.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {ResourceClient} from '../../client/resource-client.ts'
import {hasCode} from '../../errors.ts'

export type Outcome = 'is kept' | 'was made' | 'was made anew' | 'was put right'

/** An object that a phase sees to. */
export interface WantedObject {
  /** For people: `ConfigMap kube-public/cluster-info`. */
  name: string
  isThere: (client: ApiClient) => Promise<boolean>
  ensure: (client: ApiClient) => Promise<Outcome>
}

/** Controllers write to the same objects; each time one was quicker, the next look sees its work. */
const ATTEMPTS = 5

interface Definition<T extends ApiObject> {
  kind: string
  resource: (client: ApiClient) => ResourceClient<T>
  wanted: T
  /** The object that was found, with what is wanted in it. */
  adapt: (found: T) => T
}

function wantedObject<T extends ApiObject>(definition: Definition<T>): WantedObject {
  const {kind, resource, wanted, adapt} = definition
  const {name = '', namespace} = wanted.metadata
  const key = {name, namespace}
  return {
    name: `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`,
    async isThere(client) {
      const found = await resource(client).find(key)
      return found !== undefined && isDeepStrictEqual(adapt(found), found)
    },
    async ensure(client) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await ensureOnce(resource(client), definition)
        } catch (error) {
          if (attempt === ATTEMPTS || !hasCode(error, 'CONFLICT', 'ALREADY_EXISTS')) throw error
        }
      }
    },
  }
}

async function ensureOnce<T extends ApiObject>(
  resource: ResourceClient<T>,
  {wanted, adapt}: Definition<T>,
): Promise<Outcome> {
  const {name = '', namespace} = wanted.metadata
  const found = await resource.find({name, namespace})
  if (!found) {
    await resource.create(wanted)
    return 'was made'
  }
  const adapted = adapt(found)
  if (isDeepStrictEqual(adapted, found)) return 'is kept'
  // A binding's role cannot be changed: another one takes its place.
  if (!isDeepStrictEqual(adapted.roleRef, found.roleRef)) {
    await resource.delete({name, namespace}, {uid: found.metadata.uid})
    await resource.create(wanted)
    return 'was made anew'
  }
  await resource.update(adapted)
  return 'was put right'
}

const takeRules =
  <T extends Role | ClusterRole>({rules}: T) =>
  (found: T): T => ({...found, rules})

const takeBinding =
  <T extends RoleBinding | ClusterRoleBinding>({roleRef, subjects = []}: T) =>
  (found: T): T => ({...found, roleRef, subjects})

export const wantedRole = (wanted: Role): WantedObject =>
  wantedObject({
    kind: 'Role',
    resource: ({roles}) => roles,
    wanted,
    adapt: takeRules(wanted),
  })

export const wantedClusterRole = (wanted: ClusterRole): WantedObject =>
  wantedObject({
    kind: 'ClusterRole',
    resource: ({clusterRoles}) => clusterRoles,
    wanted,
    adapt: takeRules(wanted),
  })

export const wantedRoleBinding = (wanted: RoleBinding): WantedObject =>
  wantedObject({
    kind: 'RoleBinding',
    resource: ({roleBindings}) => roleBindings,
    wanted,
    adapt: takeBinding(wanted),
  })

export const wantedClusterRoleBinding = (wanted: ClusterRoleBinding): WantedObject =>
  wantedObject({
    kind: 'ClusterRoleBinding',
    resource: ({clusterRoleBindings}) => clusterRoleBindings,
    wanted,
    adapt: takeBinding(wanted),
  })

/** A ConfigMap whose keys are ours; others that stand in it are left alone. */
export const wantedConfigMap = (wanted: ConfigMap): WantedObject =>
  wantedObject({
    kind: 'ConfigMap',
    resource: ({configMaps}) => configMaps,
    wanted,
    adapt: (found) => ({...found, data: {...found.data, ...wanted.data}}),
  })

/** A ConfigMap to begin with: what an administrator has made of it is kept. */
export const initialConfigMap = (wanted: ConfigMap): WantedObject =>
  wantedObject({
    kind: 'ConfigMap',
    resource: ({configMaps}) => configMaps,
    wanted,
    adapt: (found) => ({...found, data: {...wanted.data, ...found.data}}),
  })
