import assert from 'node:assert/strict'
import type {PolicyRule} from '../../../../src/api/rbac.ts'
import {RbacIndex, rulesReview} from '../../../../src/server/authz/rbac/rbac-index.ts'
import {ask, binding, type Item, role, rule, subject, urls, user} from './support.ts'

const indexOf = (...items: Item[]) => {
  const index = new RbacIndex()
  index.replaceAll(items)
  return index
}

const ann = user('ann', 'g1')

const withRule = (given: PolicyRule) =>
  indexOf(role('r', given), binding('b', 'ClusterRole r', subject('User ann')))

const verdicts: [string, PolicyRule, string, boolean][] = [
  ['an exact rule', rule('get', '', 'secrets'), 'get secrets in a named s', true],
  ['another verb', rule('get', '', 'secrets'), 'list secrets in a', false],
  ['another group', rule('get', 'apps', 'secrets'), 'get secrets in a named s', false],
  ['all verbs', rule('*', '', 'secrets'), 'watch secrets', true],
  ['all groups', rule('get', '*', 'roles'), 'get rbac.authorization.k8s.io/roles in a', true],
  ['all resources', rule('get', '', '*'), 'get pods/log in a named p', true],
  ['a resource for its subresource', rule('get', '', 'pods'), 'get pods/status in a', false],
  ['a subresource', rule('get', '', 'pods/status'), 'get pods/status in a', true],
  ['a subresource for its resource', rule('get', '', 'pods/status'), 'get pods in a', false],
  ['any with a subresource', rule('get', '', '*/scale'), 'get pods/scale in a', true],
  ['any with a subresource for another', rule('get', '', '*/scale'), 'get pods/log in a', false],
  ['a star that is no wildcard', rule('get', '', 'pods/*'), 'get pods/log in a', false],
  ['a name', rule('get', '', 'secrets', 's'), 'get secrets in a named s', true],
  ['another name', rule('get', '', 'secrets', 's'), 'get secrets in a named t', false],
  ['a name for a create', rule('create', '', 'secrets', 's'), 'create secrets in a', false],
  ['no groups at all', {verbs: ['get'], resources: ['secrets']}, 'get secrets in a', false],
  ['a path', urls('get', '/healthz'), 'get /healthz', true],
  ['a path below', urls('get', '/healthz'), 'get /healthz/etcd', false],
  ['a path by prefix', urls('get', '/healthz/*'), 'get /healthz/etcd', true],
  ['a prefix for the path itself', urls('get', '/healthz/*'), 'get /healthz', false],
  ['all paths', urls('*', '*'), 'post /anything', true],
  ['a path for a resource', urls('*', '*'), 'get secrets', false],
  ['all resources for a path', rule('*', '*', '*'), 'get /healthz', false],
]

describe('RbacIndex', () => {
  for (const [name, given, question, allowed] of verdicts) {
    it(`${allowed ? 'allows' : 'does not allow'} by ${name}`, () => {
      assert.equal(withRule(given).authorize(ann, ask(question)).allowed, allowed)
    })
  }

  const reasons: [string, Item, string][] = [
    [
      'a cluster binding to a group',
      binding('b', 'ClusterRole r', subject('Group g1')),
      'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "g1"',
    ],
    [
      'a binding of a cluster role',
      binding('a/b', 'ClusterRole r', subject('User ann')),
      'RBAC: allowed by RoleBinding "b/a" of ClusterRole "r" to User "ann"',
    ],
    [
      'the first subject that fits',
      binding(
        'b',
        'ClusterRole r',
        subject('Group other'),
        subject('Group g1'),
        subject('User ann'),
      ),
      'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "g1"',
    ],
  ]
  for (const [name, bound, reason] of reasons) {
    it(`says why, for ${name}`, () => {
      const index = indexOf(role('r', rule('get', '', 'secrets')), bound)
      assert.deepEqual(index.authorize(ann, ask('get secrets in a')), {allowed: true, reason})
    })
  }

  it('takes a service account of the binding’s own namespace where none is named', () => {
    const index = indexOf(
      role('a/r', rule('get', '', 'secrets')),
      binding('a/b', 'Role r', subject('ServiceAccount robot')),
    )
    assert.deepEqual(
      index.authorize(user('system:serviceaccount:a:robot'), ask('get secrets in a')),
      {
        allowed: true,
        reason: 'RBAC: allowed by RoleBinding "b/a" of Role "r" to ServiceAccount "robot/a"',
      },
    )
    assert.equal(
      index.authorize(user('system:serviceaccount:b:robot'), ask('get secrets in a')).allowed,
      false,
    )
  })

  it('ignores a service account without a namespace in a cluster binding', () => {
    const index = indexOf(
      role('r', rule('get', '', 'secrets')),
      binding('b', 'ClusterRole r', subject('ServiceAccount robot')),
    )
    assert.equal(
      index.authorize(user('system:serviceaccount::robot'), ask('get secrets')).allowed,
      false,
    )
  })

  it('keeps the roles of namespaces apart', () => {
    const index = indexOf(
      role('a/r', rule('get', '', 'secrets')),
      role('b/r', rule('get', '', 'pods')),
      binding('a/b', 'Role r', subject('User ann')),
    )
    assert.equal(index.authorize(ann, ask('get secrets in a')).allowed, true)
    assert.equal(index.authorize(ann, ask('get secrets in b')).allowed, false)
    assert.equal(index.authorize(ann, ask('get secrets')).allowed, false)
    assert.equal(index.authorize(ann, ask('get pods in a')).allowed, false)
  })

  it('names roles that are missing when it refuses', () => {
    const index = indexOf(
      binding('b', 'ClusterRole x', subject('User ann')),
      binding('b2', 'ClusterRole x', subject('Group g1')),
    )
    assert.deepEqual(index.authorize(ann, ask('get secrets in a')), {
      allowed: false,
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "x" not found',
    })
    index.upsert('RoleBinding', binding('a/c', 'Role y', subject('User ann')).object)
    assert.equal(
      index.authorize(ann, ask('get secrets in a')).reason,
      'RBAC: [clusterrole.rbac.authorization.k8s.io "x" not found, role.rbac.authorization.k8s.io "y" not found]',
    )
    assert.equal(index.authorize(user('bob'), ask('get secrets in a')).reason, '')
  })

  it('follows changes and removals', () => {
    const index = withRule(rule('get', '', 'secrets'))
    index.upsert('ClusterRole', role('r', rule('get', '', 'pods')).object)
    assert.equal(index.authorize(ann, ask('get secrets')).allowed, false)
    assert.equal(index.authorize(ann, ask('get pods')).allowed, true)
    index.upsert('ClusterRoleBinding', binding('b', 'ClusterRole r', subject('User bob')).object)
    assert.equal(index.authorize(ann, ask('get pods')).allowed, false)
    assert.equal(index.authorize(user('bob'), ask('get pods')).allowed, true)
    index.remove('ClusterRoleBinding', '', 'b')
    assert.equal(index.authorize(user('bob'), ask('get pods')).allowed, false)
  })

  it('collects the rules of a user, with what could not be resolved', () => {
    const secrets = rule('get', '', 'secrets')
    const pods = rule('get', '', 'pods')
    const index = indexOf(
      role('r', secrets),
      role('a/r', pods),
      binding('b', 'ClusterRole r', subject('User ann'), subject('Group g1')),
      binding('a/b', 'Role r', subject('User ann')),
      binding('a/c', 'Role gone', subject('User ann')),
    )
    assert.deepEqual(index.rulesFor(ann, ''), {rules: [secrets]})
    assert.deepEqual(index.rulesFor(ann, 'a'), {
      rules: [secrets, pods],
      error: 'role.rbac.authorization.k8s.io "gone" not found',
    })
  })
})

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
