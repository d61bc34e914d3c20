import assert from 'node:assert/strict'
import {
  BOOTSTRAPPER_NAMESPACES,
  bootstrapperGroups,
  bootstrapperNamespaceOf,
  bootstrapperUser,
} from '../../src/csr/bootstrapper.ts'

describe('the bootstrapper', () => {
  it('is one service account in two namespaces', () => {
    for (const namespace of BOOTSTRAPPER_NAMESPACES) {
      assert.equal(bootstrapperNamespaceOf(bootstrapperUser(namespace)), namespace)
    }
  })

  it('is no account of that name in another namespace, and no other account', () => {
    for (const username of [
      bootstrapperUser('default'),
      'system:serviceaccount:kube-system:default',
      'system:serviceaccount:kube-system:node-bootstrapper:x',
      'node-bootstrapper',
      undefined,
    ]) {
      assert.equal(bootstrapperNamespaceOf(username), undefined)
    }
  })

  it('has the groups of a service account', () => {
    assert.deepEqual(bootstrapperGroups('kube-system'), [
      'system:serviceaccounts',
      'system:serviceaccounts:kube-system',
    ])
  })
})
