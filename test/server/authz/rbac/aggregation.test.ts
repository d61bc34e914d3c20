import assert from 'node:assert/strict'
import fc from 'fast-check'
import type {ClusterRole, PolicyRule} from '../../../../src/api/rbac.ts'
import {aggregate} from '../../../../src/server/authz/rbac/aggregation.ts'
import {rule} from './support.ts'

const plain = (name: string, labels: string[], ...rules: PolicyRule[]): ClusterRole => ({
  metadata: {name, labels: Object.fromEntries(labels.map((label) => [label, 'true']))},
  rules,
})

const gathering = (name: string, labels: string[], ...selected: string[]): ClusterRole => ({
  ...plain(name, labels),
  aggregationRule: {
    clusterRoleSelectors: selected.map((label) => ({matchLabels: {[label]: 'true'}})),
  },
})

const apply = (roles: ClusterRole[]) => {
  const changed = aggregate(roles)
  return roles.map((one) => ({...one, rules: changed.get(one.metadata.name ?? '') ?? one.rules}))
}

const pods = rule('get', '', 'pods')
const secrets = rule('get', '', 'secrets')

describe('aggregate', () => {
  it('joins the rules of selected roles by name, each rule once', () => {
    const changed = aggregate([
      gathering('view', [], 'to-view', 'also'),
      plain('b', ['to-view'], pods),
      plain('a', ['also'], secrets, pods),
      plain('c', [], rule('*', '*', '*')),
    ])
    assert.deepEqual([...changed], [['view', [secrets, pods]]])
  })

  it('follows roles that gather roles that gather', () => {
    const changed = aggregate([
      gathering('admin', [], 'to-admin'),
      gathering('edit', ['to-admin'], 'to-edit'),
      plain('x', ['to-edit'], pods),
    ])
    assert.deepEqual(changed.get('admin'), [pods])
    assert.deepEqual(changed.get('edit'), [pods])
  })

  it('replaces rules that were written by hand', () => {
    const role = {...gathering('view', [], 'to-view'), rules: [rule('*', '*', '*')]}
    assert.deepEqual([...aggregate([role])], [['view', []]])
  })

  it('reports nothing if everything is as it should be', () => {
    const role = {...gathering('view', [], 'to-view'), rules: [pods]}
    assert.equal(aggregate([role, plain('x', ['to-view'], pods)]).size, 0)
  })

  it('comes to rest after one pass, also where roles select each other in circles', () => {
    const label = fc.constantFrom('l1', 'l2', 'l3')
    const roleOf = fc.tuple(
      fc.uniqueArray(label, {maxLength: 2}),
      fc.option(fc.uniqueArray(label, {minLength: 1, maxLength: 2})),
      fc.constantFrom(pods, secrets),
    )
    fc.assert(
      fc.property(fc.array(roleOf, {maxLength: 6}), (drawn) => {
        const roles = drawn.map(([labels, selected, given], index) =>
          selected === null
            ? plain(`r${index}`, labels, given)
            : gathering(`r${index}`, labels, ...selected),
        )
        assert.equal(aggregate(apply(roles)).size, 0)
      }),
    )
  })
})
