import assert from 'node:assert/strict'
import fc from 'fast-check'
import type {UserInfo} from '../../../../src/api/meta.ts'
import type {PolicyRule, RoleBinding, Subject} from '../../../../src/api/rbac.ts'
import {covers} from '../../../../src/server/authz/rbac/escalation.ts'
import {RbacIndex} from '../../../../src/server/authz/rbac/rbac-index.ts'
import type {AccessAttributes} from '../../../../src/server/kernel/resource.ts'
import type {Item} from './support.ts'
import {binding, role} from './support.ts'

/** RBAC read off its definition, without any index: slow, and plain to see. */
function naiveRuleAllows(rule: PolicyRule, {verb, resource, path}: AccessAttributes): boolean {
  if (!rule.verbs.some((one) => one === '*' || one === verb)) return false
  if (resource === undefined) {
    return (rule.nonResourceURLs ?? []).some(
      (url) => url === path || (url.endsWith('*') && path?.startsWith(url.slice(0, -1))),
    )
  }
  const {group, subresource, name} = resource
  const full = subresource === '' ? resource.resource : `${resource.resource}/${subresource}`
  return (
    (rule.apiGroups ?? []).some((one) => one === '*' || one === group) &&
    (rule.resources ?? []).some(
      (one) => one === '*' || one === full || (subresource !== '' && one === `*/${subresource}`),
    ) &&
    ((rule.resourceNames ?? []).length === 0 || (rule.resourceNames ?? []).includes(name))
  )
}

function naiveSubjectIs(subject: Subject, home: string, user: UserInfo): boolean {
  if (subject.kind === 'User') return subject.name === user.username
  if (subject.kind === 'Group') return user.groups.includes(subject.name)
  const namespace = subject.namespace ?? home
  return namespace !== '' && user.username === `system:serviceaccount:${namespace}:${subject.name}`
}

function naiveAllows(items: Item[], user: UserInfo, attributes: AccessAttributes): boolean {
  const namespace = attributes.resource?.namespace ?? ''
  return items.some(({kind, object}) => {
    const home = object.metadata.namespace ?? ''
    if (kind !== 'ClusterRoleBinding' && (kind !== 'RoleBinding' || home !== namespace))
      return false
    const {subjects = [], roleRef} = object as RoleBinding
    if (!subjects.some((subject) => naiveSubjectIs(subject, home, user))) return false
    const target = items.find(
      (item) =>
        item.kind === roleRef.kind &&
        item.object.metadata.name === roleRef.name &&
        (item.kind === 'ClusterRole' || (home !== '' && item.object.metadata.namespace === home)),
    )
    return ((target?.object.rules ?? []) as PolicyRule[]).some((rule) =>
      naiveRuleAllows(rule, attributes),
    )
  })
}

const some = (...values: string[]) => fc.uniqueArray(fc.constantFrom(...values), {maxLength: 3})
const verbs = some('get', 'list', 'create', '*')
const resourceRule = fc.record({
  verbs,
  apiGroups: some('', 'apps', '*'),
  resources: some('pods', 'secrets', 'pods/log', '*/log', 'pods/*', '*'),
  resourceNames: fc.oneof({weight: 3, arbitrary: fc.constant([])}, some('x', 'y')),
})
const pathRule = fc.record({verbs, nonResourceURLs: some('/a', '/a/*', '/b', '*')})
const rules = fc.array(fc.oneof(resourceRule, pathRule) as fc.Arbitrary<PolicyRule>, {maxLength: 3})
const namespaces = fc.constantFrom('n1', 'n2')
const subjects = fc.array(
  fc.oneof(
    fc.record({kind: fc.constant('User' as const), name: fc.constantFrom('ann', 'bob')}),
    fc.record({kind: fc.constant('Group' as const), name: fc.constantFrom('g1', 'g2')}),
    fc.record(
      {
        kind: fc.constant('ServiceAccount' as const),
        name: fc.constant('sa'),
        namespace: namespaces,
      },
      {requiredKeys: ['kind', 'name']},
    ),
  ),
  {maxLength: 3},
)
const names = fc.constantFrom('r1', 'r2', 'r3')
const item: fc.Arbitrary<Item> = fc.oneof(
  fc.tuple(names, rules).map(([name, given]) => role(name, ...given)),
  fc.tuple(namespaces, names, rules).map(([ns, name, given]) => role(`${ns}/${name}`, ...given)),
  fc.tuple(names, names, subjects).map(([n, r, s]) => binding(n, `ClusterRole ${r}`, ...s)),
  fc
    .tuple(namespaces, names, fc.constantFrom('Role', 'ClusterRole'), names, subjects)
    .map(([ns, n, kind, r, s]) => binding(`${ns}/${n}`, `${kind} ${r}`, ...s)),
)
const keyOf = ({kind, object}: Item) =>
  `${kind} ${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`
const policy = fc.array(item, {maxLength: 16})
const anyUser = fc.record({
  username: fc.constantFrom('ann', 'bob', 'system:serviceaccount:n1:sa', 'g1'),
  groups: some('g1', 'g2', 'ann'),
})
const question: fc.Arbitrary<AccessAttributes> = fc.oneof(
  fc.record({
    verb: fc.constantFrom('get', 'list', 'create', 'delete'),
    resource: fc.record({
      group: fc.constantFrom('', 'apps', 'other'),
      version: fc.constant('v1'),
      resource: fc.constantFrom('pods', 'secrets'),
      subresource: fc.constantFrom('', 'log', '*'),
      namespace: fc.constantFrom('', 'n1', 'n2'),
      name: fc.constantFrom('', 'x', 'z'),
    }),
  }),
  fc.record({
    verb: fc.constantFrom('get', 'list'),
    path: fc.constantFrom('/a', '/a/b', '/b', '/c'),
  }),
)

describe('RBAC', () => {
  it('agrees with a naive evaluator on any policy, however it came about', () => {
    fc.assert(
      fc.property(policy, anyUser, fc.array(question, {minLength: 5}), (history, user, asked) => {
        const index = new RbacIndex()
        const current = new Map<string, Item>()
        for (const [position, change] of history.entries()) {
          const {kind, object} = change
          if (position % 5 === 4) {
            current.delete(keyOf(change))
            index.remove(kind, object.metadata.namespace ?? '', object.metadata.name ?? '')
          } else {
            current.set(keyOf(change), change)
            index.upsert(kind, object)
          }
        }
        for (const attributes of asked) {
          const {allowed, reason} = index.authorize(user, attributes)
          assert.equal(allowed, naiveAllows([...current.values()], user, attributes))
          assert.equal(allowed, reason.startsWith('RBAC: allowed by'))
        }
      }),
      {numRuns: 500},
    )
  })

  it('never calls rules covered that allow what the owner may not do', () => {
    fc.assert(
      fc.property(rules, rules, fc.array(question, {minLength: 5}), (owned, wanted, asked) => {
        const {covered} = covers(owned, wanted)
        fc.pre(covered)
        for (const attributes of asked) {
          if (!wanted.some((rule) => naiveRuleAllows(rule, attributes))) continue
          assert.ok(owned.some((rule) => naiveRuleAllows(rule, attributes)))
        }
      }),
      {numRuns: 300, maxSkipsPerRun: 1000},
    )
  })
})
