import type {ApiObject, UserInfo} from '../../../../src/api/meta.ts'
import type {PolicyRule, Subject} from '../../../../src/api/rbac.ts'
import type {AccessAttributes} from '../../../../src/server/kernel/resource.ts'
import type {RbacKind} from '../../../../src/server/authz/rbac/rbac-index.ts'

export const user = (username: string, ...groups: string[]): UserInfo => ({username, groups})

/** `get secrets`, `get rbac.authorization.k8s.io/roles in ns named x`, `get /healthz`. */
export function ask(text: string): AccessAttributes {
  const [verb = '', target = '', ...rest] = text.split(' ')
  if (target.startsWith('/')) return {verb, path: target}
  const word = (label: string) => {
    const at = rest.indexOf(label)
    return at === -1 ? '' : (rest[at + 1] ?? '')
  }
  const [first = '', second] = target.includes('.') ? target.split(/\/(.*)/) : ['', target]
  const [resource = '', subresource = ''] = (second ?? '').split('/')
  return {
    verb,
    resource: {
      group: first,
      version: 'v1',
      resource,
      subresource,
      namespace: word('in'),
      name: word('named'),
    },
  }
}

export interface Item {
  kind: RbacKind
  object: ApiObject
}

const meta = (path: string) => {
  const [name = '', namespace] = path.split('/').reverse()
  return {name, ...(namespace === undefined ? {} : {namespace})}
}

/** `name` makes a ClusterRole, `namespace/name` a Role. */
export const role = (path: string, ...rules: PolicyRule[]): Item => ({
  kind: path.includes('/') ? 'Role' : 'ClusterRole',
  object: {metadata: meta(path), rules},
})

export const binding = (path: string, roleRef: string, ...subjects: Subject[]): Item => {
  const [kind = '', name = ''] = roleRef.split(' ')
  return {
    kind: path.includes('/') ? 'RoleBinding' : 'ClusterRoleBinding',
    object: {
      metadata: meta(path),
      subjects,
      roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind, name},
    },
  }
}

export const subject = (text: string): Subject => {
  const [kind = '', name = ''] = text.split(' ')
  if (kind !== 'ServiceAccount') return {kind: kind as 'User', name}
  const [account = '', namespace] = name.split('/').reverse()
  return {kind, name: account, ...(namespace === undefined ? {} : {namespace})}
}

export const rule = (verbs: string, groups: string, resources: string, names = ''): PolicyRule => ({
  verbs: verbs.split(','),
  apiGroups: groups.split(','),
  resources: resources.split(','),
  ...(names === '' ? {} : {resourceNames: names.split(',')}),
})

export const urls = (verbs: string, ...nonResourceURLs: string[]): PolicyRule => ({
  verbs: verbs.split(','),
  nonResourceURLs,
})
