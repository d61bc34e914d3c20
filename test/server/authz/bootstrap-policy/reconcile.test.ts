import assert from 'node:assert/strict'
import type {ClusterRole, ClusterRoleBinding} from '../../../../src/api/rbac.ts'
import {bootstrapPolicy, reconcile} from '../../../../src/server/authz/bootstrap-policy/index.ts'
import {rule, subject} from '../rbac/support.ts'

const {clusterRoles, clusterRoleBindings} = bootstrapPolicy()
const named = <T extends {metadata: {name?: string}}>(all: T[], name: string): T => {
  const found = all.find(({metadata}) => metadata.name === name)
  assert.ok(found)
  return structuredClone(found)
}
const wantedRole = named(clusterRoles, 'system:basic-user')
const wantedBinding = named(clusterRoleBindings, 'system:public-info-viewer')

function updated<T>(result: {action: string; object?: T}, action = 'update'): T {
  assert.equal(result.action, action)
  assert.ok(result.object)
  return result.object
}

describe('reconcile', () => {
  it('creates what is not there', () => {
    assert.deepEqual(reconcile<ClusterRole>(undefined, wantedRole), {
      action: 'create',
      object: wantedRole,
    })
  })

  it('keeps what is as it should be', () => {
    for (const object of clusterRoles) {
      assert.equal(reconcile<ClusterRole>(structuredClone(object), object).action, 'keep')
    }
    for (const object of clusterRoleBindings) {
      assert.equal(reconcile<ClusterRoleBinding>(structuredClone(object), object).action, 'keep')
    }
  })

  it('adds missing rules again and keeps additional ones', () => {
    const added = rule('get', '', 'pods')
    const object = updated(reconcile<ClusterRole>({...wantedRole, rules: [added]}, wantedRole))
    assert.deepEqual(object.rules?.[0], added)
    assert.equal(reconcile<ClusterRole>(object, wantedRole).action, 'keep')
    assert.equal(object.rules?.length, 4)
  })

  it('keeps a role that grants more by wildcards', () => {
    const existing = {...wantedRole, rules: [rule('*', '*', '*')]}
    assert.equal(reconcile<ClusterRole>(existing, wantedRole).action, 'keep')
  })

  it('adds missing subjects again and keeps additional ones', () => {
    const ann = subject('User ann')
    const existing = {...wantedBinding, subjects: [ann]}
    const object = updated(reconcile<ClusterRoleBinding>(existing, wantedBinding))
    assert.deepEqual(object.subjects, [ann, ...(wantedBinding.subjects ?? [])])
  })

  it('leaves an object alone that says so', () => {
    const existing = {
      ...wantedRole,
      metadata: {
        ...wantedRole.metadata,
        annotations: {'rbac.authorization.kubernetes.io/autoupdate': 'false'},
      },
      rules: [],
    }
    assert.deepEqual(reconcile<ClusterRole>(existing, wantedRole), {action: 'keep'})
  })

  it('restores labels without touching other ones', () => {
    const existing = {...wantedRole, metadata: {name: 'system:basic-user', labels: {mine: 'yes'}}}
    const {metadata} = updated(reconcile<ClusterRole>(existing, wantedRole))
    assert.deepEqual(metadata.labels, {
      'kubernetes.io/bootstrapping': 'rbac-defaults',
      mine: 'yes',
    })
  })

  it('makes a binding of another role anew, without the subjects somebody gave it', () => {
    const existing: ClusterRoleBinding = {
      ...wantedBinding,
      subjects: [subject('User mallory')],
      roleRef: {...wantedBinding.roleRef, name: 'view'},
    }
    const object = updated(reconcile<ClusterRoleBinding>(existing, wantedBinding), 'recreate')
    assert.deepEqual(object, wantedBinding)
  })

  it('leaves the rules of aggregated roles to the aggregation', () => {
    const wanted = named(clusterRoles, 'view')
    assert.equal(reconcile<ClusterRole>({...wanted, rules: []}, wanted).action, 'keep')
    const {aggregationRule} = updated(
      reconcile<ClusterRole>({...wanted, aggregationRule: {}}, wanted),
    )
    assert.deepEqual(aggregationRule, wanted.aggregationRule)
  })
})
