import assert from 'node:assert/strict'
import {
  type Authorizer,
  chainAuthorizers,
  createAuthorize,
  type Opinion,
  refusal,
  requireAllowed,
} from '../../../src/server/authz/authorizer.ts'
import {RbacIndex} from '../../../src/server/authz/rbac/rbac-index.ts'
import {ask, binding, role, rule, subject, user} from './rbac/support.ts'

const says =
  (decision: Opinion['decision'], reason = ''): Authorizer =>
  () => ({decision, reason})

const bob = user('bob')

describe('chainAuthorizers', () => {
  const cases: [string, Authorizer[], {allowed: boolean; reason: string}][] = [
    ['nobody has an opinion', [], {allowed: false, reason: ''}],
    ['the first allows', [says('allow', 'a'), says('deny', 'b')], {allowed: true, reason: 'a'}],
    ['the first denies', [says('deny', 'a'), says('allow', 'b')], {allowed: false, reason: 'a'}],
    [
      'only the last allows',
      [says('noOpinion', 'a'), says('allow', 'b')],
      {allowed: true, reason: 'b'},
    ],
    [
      'all pass',
      [says('noOpinion', 'a'), says('noOpinion'), says('noOpinion', 'b')],
      {allowed: false, reason: 'a, b'},
    ],
  ]
  for (const [name, chain, expected] of cases) {
    it(`decides where ${name}`, () => {
      assert.deepEqual(chainAuthorizers(chain)(bob, ask('get secrets')), expected)
    })
  }

  it('asks what stands between masters and RBAC', () => {
    const index = new RbacIndex()
    index.replaceAll([
      role('r', rule('get', '', 'secrets')),
      binding('b', 'ClusterRole r', subject('User bob')),
    ])
    const authorize = createAuthorize(index, [says('noOpinion', 'no relationship')])
    assert.equal(authorize(bob, ask('get secrets')).allowed, true)
    assert.deepEqual(authorize(bob, ask('get pods')), {allowed: false, reason: 'no relationship'})
  })
})

describe('refusal', () => {
  const texts: [string, string, string, object][] = [
    [
      'list secrets in oracle',
      '',
      'secrets is forbidden: User "bob" cannot list resource "secrets" in API group "" in the namespace "oracle"',
      {kind: 'secrets'},
    ],
    [
      'update certificates.k8s.io/certificatesigningrequests/approval named c',
      '',
      'certificatesigningrequests.certificates.k8s.io "c" is forbidden: User "bob" cannot update resource "certificatesigningrequests/approval" in API group "certificates.k8s.io" at the cluster scope',
      {name: 'c', group: 'certificates.k8s.io', kind: 'certificatesigningrequests'},
    ],
    ['get /metrics', '', 'forbidden: User "bob" cannot get path "/metrics"', {}],
    [
      'get nodes named n',
      'RBAC: clusterrole.rbac.authorization.k8s.io "x" not found',
      'nodes "n" is forbidden: User "bob" cannot get resource "nodes" in API group "" at the cluster scope: RBAC: clusterrole.rbac.authorization.k8s.io "x" not found',
      {name: 'n', kind: 'nodes'},
    ],
  ]
  for (const [question, reason, message, details] of texts) {
    it(`says who cannot ${question}`, () => {
      const {status} = refusal(bob, ask(question), reason)
      assert.equal(status.message, message)
      assert.deepEqual(status.details, details)
      assert.equal(status.code, 403)
    })
  }

  it('is thrown where it is not allowed, and only there', () => {
    assert.throws(() => requireAllowed(chainAuthorizers([]), bob, ask('get secrets')), {
      message: /^secrets is forbidden/,
    })
    assert.equal(
      requireAllowed(chainAuthorizers([says('allow', 'why')]), bob, ask('get secrets')),
      'why',
    )
  })
})
