import assert from 'node:assert/strict'
import {RbacIndex} from '../../../../src/server/authz/rbac/rbac-index.ts'
import {rulesReview} from '../../../../src/server/authz/rbac/rules-review.ts'
import {binding, role, rule, subject, urls, user} from './support.ts'

describe('rulesReview', () => {
  it('tells resource rules from rules for paths, and what is missing', () => {
    const index = new RbacIndex()
    index.replaceAll([
      role('r', rule('get', '', 'secrets', 's'), urls('get', '/metrics')),
      binding('b', 'ClusterRole r', subject('User ann')),
      binding('c', 'ClusterRole gone', subject('User ann')),
    ])
    assert.deepEqual(rulesReview(index, user('ann'), 'default'), {
      resourceRules: [
        {verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['s']},
      ],
      nonResourceRules: [{verbs: ['get'], nonResourceURLs: ['/metrics']}],
      incomplete: false,
      evaluationError: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
    })
  })

  it('has the same order, whatever order the bindings arrived in', () => {
    const objects = [
      role('r1', rule('get', '', 'secrets')),
      role('r2', rule('list', '', 'pods')),
      binding('b', 'ClusterRole r1', subject('User ann')),
      binding('a', 'ClusterRole r2', subject('Group people')),
    ]
    const reviews = [objects, objects.toReversed()].map((arrived) => {
      const index = new RbacIndex()
      index.replaceAll(arrived)
      return rulesReview(index, user('ann', 'people'), 'default')
    })
    assert.deepEqual(reviews[0], reviews[1])
    assert.deepEqual(
      reviews[0]?.resourceRules.map(({resources}) => resources),
      [['pods'], ['secrets']],
    )
  })
})
