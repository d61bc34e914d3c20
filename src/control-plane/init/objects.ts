import {isDeepStrictEqual} from 'node:util'
import type {ConfigMap} from '../../api/core.ts'
import type {ApiObject} from '../../api/meta.ts'
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from '../../api/rbac.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {ResourceClient} from '../../client/resource-client.ts'
import {hasCode, TrustError} from '../../errors.ts'

/** Adds the rules that the others of a role do not cover. */
const withRules =
  <T extends Role | ClusterRole>({rules: wanted}: T) =>
  (found: T): T => {
    const rules = found.rules ?? []
    const missing = (wanted ?? []).filter((rule) => !rules.some((one) => covers(one, rule)))
    return missing.length === 0 ? found : {...found, rules: [...rules, ...missing]}
  }

/** Adds the subjects that a binding lacks. One of another role is somebody's own, and stays. */
const withSubjects =
  <T extends RoleBinding | ClusterRoleBinding>(wanted: T) =>
  (found: T): T => {
    if (!isDeepStrictEqual(found.roleRef, wanted.roleRef)) throw ofAnotherRole(wanted)
    const subjects = found.subjects ?? []
    const missing = (wanted.subjects ?? []).filter(
      (subject) => !subjects.some((one) => isSame(one, subject)),
    )
    return missing.length === 0 ? found : {...found, subjects: [...subjects, ...missing]}
  }

/** Whether one rule allows all that the other does. */
export function covers(rule: PolicyRule, wanted: PolicyRule): boolean {
  const isIn = (part: 'verbs' | 'apiGroups' | 'resources') => {
    const values = rule[part] ?? []
    return values.includes('*') || (wanted[part] ?? []).every((one) => values.includes(one))
  }
  const names = rule.resourceNames ?? []
  const wantedNames = wanted.resourceNames ?? []
  const hasNames =
    names.length === 0 ||
    (wantedNames.length > 0 && wantedNames.every((one) => names.includes(one)))
  return isIn('verbs') && isIn('apiGroups') && isIn('resources') && hasNames
}

const isSame = (one: Subject, other: Subject): boolean =>
  one.kind === other.kind && one.name === other.name && one.namespace === other.namespace

function ofAnotherRole({metadata: {name = '', namespace}, roleRef}: RoleBinding): TrustError {
  const kind = namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding'
  const place = namespace === undefined ? '' : ` --namespace ${namespace}`
  return new TrustError(
    'CONFLICT',
    `the ${kind} "${name}" does not bind the ${roleRef.kind} "${roleRef.name}"`,
    {
      facts: {kind, name, namespace},
      hints: [
        `if nobody needs it, delete it with "kubectl delete ${kind.toLowerCase()} ${name}${place}", and try again`,
      ],
    },
  )
}

type Outcome = 'is unchanged' | 'was created' | 'was recreated' | 'was updated'

/** An object that a phase creates and keeps up to date. */
export interface WantedObject {
  /** For people: `ConfigMap kube-public/cluster-info`. */
  name: string
  isCurrent: (client: ApiClient) => Promise<boolean>
  ensure: (client: ApiClient) => Promise<Outcome>
}

/** Controllers write to the same objects; if one was faster, the next attempt sees its change. */
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
    async isCurrent(client) {
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
    return 'was created'
  }
  const adapted = adapt(found)
  if (isDeepStrictEqual(adapted, found)) return 'is unchanged'
  // A binding's role cannot be changed, only replaced.
  if (!isDeepStrictEqual(adapted.roleRef, found.roleRef)) {
    await resource.delete({name, namespace}, {uid: found.metadata.uid})
    await resource.create(wanted)
    return 'was recreated'
  }
  await resource.update(adapted)
  return 'was updated'
}

export async function planObjects(
  client: ApiClient,
  objects: readonly WantedObject[],
): Promise<string[]> {
  const lines: string[] = []
  for (const {name, isCurrent} of objects) {
    if (!(await isCurrent(client))) lines.push(`create or update the ${name}`)
  }
  return lines
}

export async function ensureObjects(
  client: ApiClient,
  objects: readonly WantedObject[],
  tell: (line: string) => void,
): Promise<void> {
  for (const {name, ensure} of objects) tell(`the ${name} ${await ensure(client)}`)
}

/** How roles and bindings that were found become as they are wanted. */
export interface RbacUpkeep {
  ofRole: <T extends Role | ClusterRole>(wanted: T) => (found: T) => T
  ofBinding: <T extends RoleBinding | ClusterRoleBinding>(wanted: T) => (found: T) => T
}

/** In a cluster of our own: exactly as wanted. */
export const EXACTLY: RbacUpkeep = {
  ofRole:
    ({rules}) =>
    (found) => ({...found, rules}),
  ofBinding:
    ({roleRef, subjects = []}) =>
    (found) => ({...found, roleRef, subjects}),
}

/** In a cluster that somebody else made: what is missing is added, and nothing is taken away. */
export const AT_LEAST: RbacUpkeep = {ofRole: withRules, ofBinding: withSubjects}

export const wantedRole = (wanted: Role, upkeep: RbacUpkeep): WantedObject =>
  wantedObject({
    kind: 'Role',
    resource: ({roles}) => roles,
    wanted,
    adapt: upkeep.ofRole(wanted),
  })

export const wantedClusterRole = (wanted: ClusterRole, upkeep: RbacUpkeep): WantedObject =>
  wantedObject({
    kind: 'ClusterRole',
    resource: ({clusterRoles}) => clusterRoles,
    wanted,
    adapt: upkeep.ofRole(wanted),
  })

export const wantedRoleBinding = (wanted: RoleBinding, upkeep: RbacUpkeep): WantedObject =>
  wantedObject({
    kind: 'RoleBinding',
    resource: ({roleBindings}) => roleBindings,
    wanted,
    adapt: upkeep.ofBinding(wanted),
  })

export const wantedClusterRoleBinding = (
  wanted: ClusterRoleBinding,
  upkeep: RbacUpkeep,
): WantedObject =>
  wantedObject({
    kind: 'ClusterRoleBinding',
    resource: ({clusterRoleBindings}) => clusterRoleBindings,
    wanted,
    adapt: upkeep.ofBinding(wanted),
  })

/** A ConfigMap with keys of ours; other keys in it are left alone. `ours`: what becomes of these in a map that was found. */
export const wantedConfigMap = (
  wanted: ConfigMap,
  ours: (found: ConfigMap) => ConfigMap['data'] = () => wanted.data,
): WantedObject =>
  wantedObject({
    kind: 'ConfigMap',
    resource: ({configMaps}) => configMaps,
    wanted,
    adapt: (found) => ({...found, data: {...found.data, ...ours(found)}}),
  })

/** A ConfigMap that is created once: an administrator's changes are kept. */
export const initialConfigMap = (wanted: ConfigMap): WantedObject =>
  wantedObject({
    kind: 'ConfigMap',
    resource: ({configMaps}) => configMaps,
    wanted,
    adapt: (found) => ({...found, data: {...wanted.data, ...found.data}}),
  })
