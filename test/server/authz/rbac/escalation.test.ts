import assert from 'node:assert/strict'
import type {PolicyRule} from '../../../../src/api/rbac.ts'
import {
  compactRules,
  covers,
  escalationProblem,
  ruleText,
} from '../../../../src/server/authz/rbac/escalation.ts'
import {rule, urls, user} from './support.ts'

const coverage: [string, PolicyRule[], PolicyRule[], boolean][] = [
  ['the same rule', [rule('get', '', 'pods')], [rule('get', '', 'pods')], true],
  ['nothing', [], [], true],
  ['something by nothing', [], [rule('get', '', 'pods')], false],
  [
    'parts held through two rules',
    [rule('get', '', 'pods'), rule('list', '', 'pods')],
    [rule('get,list', '', 'pods')],
    true,
  ],
  [
    'a wildcard verb by all verbs there are',
    [rule('get,list,watch', '', 'pods')],
    [rule('*', '', 'pods')],
    false,
  ],
  ['anything by everything', [rule('*', '*', '*')], [rule('get', 'a.b', 'c/d', 'e')], true],
  ['paths by all resources', [rule('*', '*', '*')], [urls('get', '/')], false],
  ['a name by the resource', [rule('get', '', 'pods')], [rule('get', '', 'pods', 'p')], true],
  ['the resource by a name', [rule('get', '', 'pods', 'p')], [rule('get', '', 'pods')], false],
  ['a name by another', [rule('get', '', 'pods', 'p')], [rule('get', '', 'pods', 'q')], false],
  [
    'a subresource by any with it',
    [rule('get', '', '*/scale')],
    [rule('get', '', 'pods/scale')],
    true,
  ],
  [
    'a subresource by its resource',
    [rule('get', '', 'pods')],
    [rule('get', '', 'pods/scale')],
    false,
  ],
  [
    'any with a subresource by one',
    [rule('get', '', 'pods/scale')],
    [rule('get', '', '*/scale')],
    false,
  ],
  ['a path by its prefix', [urls('get', '/api/*')], [urls('get', '/api/v1')], true],
  ['a prefix by a longer one', [urls('get', '/api/v1/*')], [urls('get', '/api/*')], false],
  ['a prefix by a shorter one', [urls('get', '/api/*')], [urls('get', '/api/v1/*')], true],
]

describe('covers', () => {
  for (const [name, owned, wanted, expected] of coverage) {
    it(`${expected ? 'covers' : 'does not cover'} ${name}`, () => {
      assert.equal(covers(owned, wanted).covered, expected)
    })
  }

  it('names the missing parts one by one', () => {
    const {missing} = covers([rule('get', '', 'pods')], [rule('get,list', '', 'pods,secrets')])
    assert.deepEqual(missing, [
      rule('list', '', 'pods'),
      rule('get', '', 'secrets'),
      rule('list', '', 'secrets'),
    ])
  })

  it('refuses a rule as a whole that would break into millions of parts', () => {
    const many = Array.from({length: 1000}, (_, index) => `x${index}`)
    const huge = {verbs: many, apiGroups: many, resources: many, resourceNames: many}
    assert.deepEqual(covers([rule('get', '', 'pods')], [huge]).missing, [huge])
    assert.equal(covers([rule('*', '*', '*')], [huge]).covered, true)
  })
})

describe('escalationProblem', () => {
  it('lists what is missing, compacted and sorted, in the words of Kubernetes', () => {
    const bob = user('bob', 'dev', 'system:authenticated')
    const own = {rules: [rule('get', '', 'pods')]}
    const wanted = [
      rule('get,list', '', 'secrets'),
      rule('watch', '', 'secrets'),
      rule('get', '', 'pods'),
      rule('create', 'apps', 'deployments', 'd'),
      urls('get', '/metrics'),
    ]
    assert.equal(
      escalationProblem(bob, own, wanted),
      'user "bob" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "watch"]}\n' +
        '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["d"], Verbs:["create"]}\n' +
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
    )
  })

  it('mentions what could not be resolved', () => {
    const own = {rules: [], error: 'clusterrole.rbac.authorization.k8s.io "x" not found'}
    assert.match(
      escalationProblem(user('bob'), own, [rule('get', '', 'pods')]) ?? '',
      /; resolution errors: \[clusterrole.rbac.authorization.k8s.io "x" not found\]$/,
    )
  })

  it('has nothing to say where everything is held', () => {
    const own = {rules: [rule('*', '*', '*')]}
    assert.equal(escalationProblem(user('bob'), own, [rule('get', '', 'pods')]), undefined)
  })
})

describe('compactRules', () => {
  it('leaves rules alone that are not for one resource', () => {
    const wide = rule('get', '', 'pods,secrets')
    assert.deepEqual(compactRules([wide, urls('get', '/a')]).map(ruleText), [
      '{APIGroups:[""], Resources:["pods" "secrets"], Verbs:["get"]}',
      '{NonResourceURLs:["/a"], Verbs:["get"]}',
    ])
  })

  it('does not change the rules it was given', () => {
    const first = rule('get', '', 'pods')
    compactRules([first, rule('list', '', 'pods')])
    assert.deepEqual(first.verbs, ['get'])
  })
})
