import assert from 'node:assert/strict'

import {createErrors, created, texts, updated} from './support.ts'

const GROUP = 'rbac.authorization.k8s.io'
const rule = {apiGroups: [''], resources: ['secrets'], verbs: ['get']}
const roleRef = {kind: 'Role', name: 'r'}

const rules: [plural: string, rule: object, errors: string[]][] = [
  ['roles', rule, []],
  [
    'roles',
    {...rule, verbs: []},
    ['rules[0].verbs: Required value: verbs must contain at least one value'],
  ],
  [
    'roles',
    {verbs: ['get']},
    [
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ],
  ],
  [
    'roles',
    {verbs: ['get'], nonResourceURLs: ['/x']},
    [
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
    ],
  ],
  ['clusterroles', {verbs: ['get'], nonResourceURLs: ['/x']}, []],
  [
    'clusterroles',
    {...rule, nonResourceURLs: ['/x']},
    [
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
]

const bindings: [plural: string, binding: object, errors: string[]][] = [
  ['rolebindings', {roleRef}, []],
  ['rolebindings', {roleRef, subjects: [{kind: 'ServiceAccount', name: 'a'}]}, []],
  [
    'clusterrolebindings',
    {roleRef},
    ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
  ],
  [
    'clusterrolebindings',
    {
      roleRef: {kind: 'ClusterRole', name: 'r'},
      subjects: [{kind: 'ServiceAccount', name: 'a'}],
    },
    ['subjects[0].namespace: Required value'],
  ],
  [
    'rolebindings',
    {roleRef: {kind: 'Other', apiGroup: 'x'}},
    [
      `roleRef.apiGroup: Unsupported value: "x": supported values: "${GROUP}"`,
      'roleRef.kind: Unsupported value: "Other": supported values: "Role", "ClusterRole"',
      'roleRef.name: Required value',
    ],
  ],
  [
    'rolebindings',
    {roleRef, subjects: [{kind: 'Robot', name: 'x'}, {kind: 'User'}]},
    [
      'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
      'subjects[1].name: Required value',
    ],
  ],
  [
    'rolebindings',
    {roleRef, subjects: [{kind: 'ServiceAccount', name: 'a', apiGroup: GROUP}]},
    [`subjects[0].apiGroup: Unsupported value: "${GROUP}": supported values: ""`],
  ],
]

describe('roles', () => {
  for (const [plural, one, errors] of rules) {
    it(`${errors.length === 0 ? 'take' : 'refuse'} ${JSON.stringify(one)} in ${plural}`, () => {
      assert.deepEqual(texts(createErrors(plural, {rules: [one]})), errors)
    })
  }

  it('need a selector where they are put together from others', () => {
    assert.deepEqual(texts(createErrors('clusterroles', {aggregationRule: {}})), [
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ])
    const clusterRoleSelectors = [{matchExpressions: [{key: 'a', operator: 'Odd'}]}]
    assert.deepEqual(
      texts(createErrors('clusterroles', {aggregationRule: {clusterRoleSelectors}})),
      [
        'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator',
      ],
    )
  })
})

describe('bindings', () => {
  for (const [plural, one, errors] of bindings) {
    it(`${errors.length === 0 ? 'take' : 'refuse'} ${JSON.stringify(one)} in ${plural}`, () => {
      assert.deepEqual(texts(createErrors(plural, {...structuredClone(one)})), errors)
    })
  }

  it('get API groups where they leave them out', () => {
    const subjects = [
      {kind: 'User', name: 'a'},
      {kind: 'Group', name: 'b', apiGroup: ''},
      {kind: 'ServiceAccount', name: 'c'},
    ]
    const made = created('rolebindings', {roleRef: {...roleRef, apiGroup: ''}, subjects})
    assert.equal(made.roleRef.apiGroup, GROUP)
    const [user, group, account] = made.subjects
    assert.deepEqual([user.apiGroup, group.apiGroup, account.apiGroup], [GROUP, GROUP, undefined])
  })

  it('stay with their role', () => {
    const old = created('rolebindings', {roleRef})
    const {errors} = updated('rolebindings', old, {roleRef: {kind: 'Role', name: 'other'}})
    assert.deepEqual(texts(errors), [
      `roleRef: Invalid value: {"APIGroup":"${GROUP}","Kind":"Role","Name":"other"}: cannot change roleRef`,
    ])
  })
})
