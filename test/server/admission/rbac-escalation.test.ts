import assert from 'node:assert/strict'
import type {ApiObject} from '../../../src/api/meta.ts'
import type {PolicyRule} from '../../../src/api/rbac.ts'
import {rbacEscalation} from '../../../src/server/admission/rbac-escalation.ts'
import {createAuthorize} from '../../../src/server/authz/authorizer.ts'
import {RbacIndex} from '../../../src/server/authz/rbac/rbac-index.ts'
import {binding, role, rule, subject, user} from '../authz/rbac/support.ts'
import {admit} from './support.ts'
import type {Wish} from './support.ts'

const RBAC = 'rbac.authorization.k8s.io'
const bob = user('bob', 'system:authenticated')
const secrets = rule('get', '', 'secrets')
const pods = rule('get', '', 'pods')

/** bob holds `pods`, and what is given. */
function setting(...held: PolicyRule[]) {
  const index = new RbacIndex()
  index.replaceAll([
    role('own', pods, ...held),
    role('power', secrets),
    role('harmless', pods),
    binding('own', 'ClusterRole own', subject('User bob')),
    role('a/local', secrets),
  ])
  return {plugin: rbacEscalation(index), authorize: createAuthorize(index)}
}

const roleObject = (rules: PolicyRule[], more: object = {}): ApiObject => ({
  metadata: {name: 'r'},
  rules,
  ...more,
})
const bindingObject = (kind: string, name: string): ApiObject => ({
  metadata: {name: 'b'},
  subjects: [],
  roleRef: {apiGroup: RBAC, kind, name},
})
const selects = {aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: 'b'}}]}}
const everything = [rule('*', '*', '*'), {verbs: ['*'], nonResourceURLs: ['*']}]

const run = async (wish: Wish, held: PolicyRule[] = [], who = bob, namespace = 'a') => {
  const {plugin, authorize} = setting(...held)
  await admit(plugin, wish, {user: who, namespace, authorize})
}

const missingSecrets =
  'is forbidden: user "bob" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
  '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'

const refused: [string, Wish, PolicyRule[], number, string][] = [
  [
    'a role with more than the caller holds',
    {resource: 'roles', object: roleObject([pods, secrets])},
    [],
    403,
    `roles.${RBAC} "r" ${missingSecrets}`,
  ],
  [
    'an update that adds more than the caller holds',
    {
      resource: 'clusterroles',
      verb: 'update',
      name: 'r',
      object: roleObject([secrets]),
      old: roleObject([pods]),
    },
    [],
    403,
    `clusterroles.${RBAC} "r" ${missingSecrets}`,
  ],
  [
    'a role that the caller may escalate by name, while it has none in the path',
    {resource: 'roles', object: roleObject([secrets])},
    [rule('escalate', RBAC, 'roles', 'r')],
    403,
    `roles.${RBAC} "r" ${missingSecrets}`,
  ],
  [
    'a binding of a role with more than the caller holds',
    {resource: 'rolebindings', object: bindingObject('ClusterRole', 'power')},
    [],
    403,
    `rolebindings.${RBAC} "b" ${missingSecrets}`,
  ],
  [
    'a binding of a role of the namespace',
    {resource: 'rolebindings', object: bindingObject('Role', 'local')},
    [],
    403,
    `rolebindings.${RBAC} "b" ${missingSecrets}`,
  ],
  [
    'a binding while another role may be bound',
    {resource: 'rolebindings', object: bindingObject('ClusterRole', 'power')},
    [rule('bind', RBAC, 'clusterroles', 'other')],
    403,
    `rolebindings.${RBAC} "b" ${missingSecrets}`,
  ],
  [
    'a binding of a role that is not there',
    {resource: 'clusterrolebindings', object: bindingObject('ClusterRole', 'gone')},
    [],
    404,
    `clusterrole.${RBAC} "gone" not found`,
  ],
  [
    'an aggregated role by a caller who is no cluster admin',
    {resource: 'clusterroles', object: roleObject([], selects)},
    [secrets],
    403,
    `clusterroles.${RBAC} "r" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
  ],
  [
    'the end of an aggregation by a caller who is no cluster admin',
    {
      resource: 'clusterroles',
      verb: 'update',
      name: 'r',
      object: roleObject([]),
      old: roleObject([], selects),
    },
    [],
    403,
    `clusterroles.${RBAC} "r" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
  ],
]

const admitted: [string, Wish, PolicyRule[]][] = [
  ['a role that the caller holds', {resource: 'roles', object: roleObject([pods])}, []],
  [
    'any role, where the caller may escalate',
    {resource: 'roles', object: roleObject([secrets])},
    [rule('escalate', RBAC, 'roles')],
  ],
  [
    'an update of the one role that the caller may escalate',
    {
      resource: 'roles',
      verb: 'update',
      name: 'r',
      object: roleObject([secrets]),
      old: roleObject([]),
    },
    [rule('escalate', RBAC, 'roles', 'r')],
  ],
  [
    'a binding of a role that the caller holds',
    {resource: 'rolebindings', object: bindingObject('ClusterRole', 'harmless')},
    [],
  ],
  [
    'a binding of the role that the caller may bind',
    {resource: 'rolebindings', object: bindingObject('ClusterRole', 'power')},
    [rule('bind', RBAC, 'clusterroles', 'power')],
  ],
  [
    'a binding of a missing role that the caller may bind',
    {resource: 'rolebindings', object: bindingObject('ClusterRole', 'gone')},
    [rule('bind', RBAC, 'clusterroles', 'gone')],
  ],
  [
    'an aggregated role of a cluster admin',
    {resource: 'clusterroles', object: roleObject([], selects)},
    everything,
  ],
  [
    'an update that only takes a finalizer off',
    {
      resource: 'roles',
      verb: 'update',
      name: 'r',
      object: {
        kind: 'Role',
        apiVersion: 'rbac.authorization.k8s.io/v1',
        ...roleObject([secrets]),
        metadata: {name: 'r', resourceVersion: '2'},
      },
      old: {
        ...roleObject([secrets]),
        metadata: {name: 'r', finalizers: ['x'], resourceVersion: '1'},
      },
    },
    [],
  ],
  [
    'the end of a role',
    {resource: 'roles', verb: 'delete', name: 'r', old: roleObject([secrets])},
    [],
  ],
]

describe('RBAC escalation', () => {
  for (const [name, wish, held, code, message] of refused) {
    it(`refuses ${name}`, async () => {
      await assert.rejects(run(wish, held), {code, message})
    })
  }

  for (const [name, wish, held] of admitted) {
    it(`admits ${name}`, async () => {
      await run(wish, held)
    })
  }

  it('does not count what a caller holds in another namespace', async () => {
    const {plugin, authorize} = setting()
    const index = new RbacIndex()
    index.replaceAll([role('b/own', secrets), binding('b/own', 'Role own', subject('User bob'))])
    const wish: Wish = {resource: 'roles', object: roleObject([secrets])}
    await assert.rejects(admit(plugin, wish, {user: bob, namespace: 'a', authorize}), {code: 403})
    await admit(rbacEscalation(index), wish, {user: bob, namespace: 'b', authorize})
    await assert.rejects(
      admit(rbacEscalation(index), {...wish, resource: 'clusterroles'}, {user: bob, authorize}),
      {code: 403},
    )
  })

  it('lets masters grant anything', async () => {
    const root = user('root', 'system:masters')
    await run({resource: 'clusterroles', object: roleObject(everything, selects)}, [], root, '')
    await run(
      {resource: 'clusterrolebindings', object: bindingObject('ClusterRole', 'gone')},
      [],
      root,
      '',
    )
  })
})
