import assert from 'node:assert/strict'
import {impersonate, parseImpersonation} from '../../../src/server/authn/impersonation.ts'
import type {AccessAttributes, Authorize} from '../../../src/server/kernel/resource.ts'
import {user} from './support.ts'

const REQUEST: AccessAttributes = {verb: 'get', path: '/version'}

const described = ({verb, resource, path}: AccessAttributes) =>
  resource === undefined
    ? `${verb} ${path ?? ''}`
    : [
        verb,
        resource.group,
        [resource.resource, resource.subresource].filter((part) => part !== '').join('/'),
        resource.namespace,
        resource.name,
      ]
        .filter((part) => part !== '')
        .join(' ')

/** Allows only what is listed, and notes what it was asked. */
function allowing(...allowed: string[]) {
  const asked: string[] = []
  const authorize: Authorize = (_user, attributes) => {
    const text = described(attributes)
    asked.push(text)
    return {allowed: allowed.includes('all') || allowed.includes(text), reason: ''}
  }
  return {authorize, asked}
}

const caller = {
  ...user('admin', 'system:masters', 'system:authenticated'),
  extra: {'authentication.kubernetes.io/credential-id': ['X509SHA256=00']},
}

function become(authorize: Authorize, ...headers: string[]) {
  const wish = parseImpersonation(headers)
  assert.ok(wish)
  return impersonate(caller, wish, {authorize, request: REQUEST})
}

describe('parseImpersonation', () => {
  it('finds nothing if nothing is asked for', () => {
    assert.equal(parseImpersonation(['Accept', '*/*', 'X-Remote-User', 'admin']), undefined)
  })

  it('keeps repeated headers apart and does not split them', () => {
    assert.deepEqual(
      parseImpersonation([
        ...['Impersonate-User', 'ann', 'IMPERSONATE-GROUP', 'a, b', 'impersonate-group', 'c'],
        ...[
          'Impersonate-Extra-Acme.com%2fProject',
          'x,y',
          'impersonate-extra-acme.com%2FProject',
          'z',
        ],
        ...['Impersonate-Uid', 'u'],
      ]),
      {
        username: 'ann',
        uid: 'u',
        groups: ['a, b', 'c'],
        extra: {'acme.com/project': ['x,y', 'z']},
      },
    )
  })

  it('keeps a key as it is that cannot be decoded', () => {
    const wish = parseImpersonation(['Impersonate-User', 'a', 'Impersonate-Extra-a%zz', 'v'])
    assert.deepEqual(wish?.extra, {'a%zz': ['v']})
  })

  for (const header of ['Impersonate-Group', 'Impersonate-Uid', 'Impersonate-Extra-a']) {
    it(`refuses ${header} without a user`, () => {
      assert.throws(() => parseImpersonation([header, 'x']), {code: 400})
    })
  }
})

describe('impersonate', () => {
  it('needs a permission for each part, and takes nothing of the caller along', () => {
    const {authorize, asked} = allowing('all')
    const headers = [
      'Impersonate-User',
      'ann',
      'Impersonate-Group',
      'g1',
      'Impersonate-Group',
      'g2',
    ]
    const more = ['Impersonate-Uid', 'u', 'Impersonate-Extra-scopes', 's1']
    assert.deepEqual(become(authorize, ...headers, ...more), {
      username: 'ann',
      uid: 'u',
      groups: ['g1', 'g2', 'system:authenticated'],
      extra: {scopes: ['s1']},
    })
    assert.deepEqual(asked, [
      'impersonate users ann',
      'impersonate groups g1',
      'impersonate groups g2',
      'impersonate authentication.k8s.io userextras/scopes s1',
      'impersonate authentication.k8s.io uids u',
    ])
  })

  const lacking: [string, string[], string[], string][] = [
    [
      'the user',
      ['impersonate groups g1'],
      ['Impersonate-User', 'ann', 'Impersonate-Group', 'g1'],
      'users "ann" is forbidden: User "admin" cannot impersonate resource "users" in API group "" at the cluster scope',
    ],
    [
      'a group',
      ['impersonate users ann'],
      ['Impersonate-User', 'ann', 'Impersonate-Group', 'system:masters'],
      'groups "system:masters" is forbidden: User "admin" cannot impersonate resource "groups" in API group "" at the cluster scope',
    ],
    [
      'a service account',
      ['impersonate users system:serviceaccount:a:b'],
      ['Impersonate-User', 'system:serviceaccount:a:b'],
      'serviceaccounts "b" is forbidden: User "admin" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "a"',
    ],
    [
      'an extra',
      ['impersonate users ann'],
      ['Impersonate-User', 'ann', 'Impersonate-Extra-scopes', 's'],
      'userextras.authentication.k8s.io "s" is forbidden: User "admin" cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io" at the cluster scope',
    ],
  ]
  for (const [name, allowed, headers, message] of lacking) {
    it(`refuses without the permission for ${name}`, () => {
      assert.throws(() => become(allowing(...allowed).authorize, ...headers), {code: 403, message})
    })
  }

  const groups: [string, string[], string[]][] = [
    ['no groups', ['Impersonate-User', 'ann'], ['system:authenticated']],
    [
      'a service account',
      ['Impersonate-User', 'system:serviceaccount:a:b'],
      ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
    ],
    [
      'a service account with groups',
      ['Impersonate-User', 'system:serviceaccount:a:b', 'Impersonate-Group', 'g'],
      ['g', 'system:authenticated'],
    ],
    ['anonymous', ['Impersonate-User', 'system:anonymous'], ['system:unauthenticated']],
    [
      'the unauthenticated group',
      ['Impersonate-User', 'ann', 'Impersonate-Group', 'system:unauthenticated'],
      ['system:unauthenticated'],
    ],
    [
      'the authenticated group itself',
      [
        'Impersonate-User',
        'ann',
        'Impersonate-Group',
        'system:authenticated',
        'Impersonate-Group',
        'g',
      ],
      ['system:authenticated', 'g'],
    ],
    ['a node', ['Impersonate-User', 'system:node:n1'], ['system:nodes', 'system:authenticated']],
    [
      'a node with groups',
      ['Impersonate-User', 'system:node:n1', 'Impersonate-Group', 'g'],
      ['g', 'system:authenticated'],
    ],
  ]
  for (const [name, headers, expected] of groups) {
    it(`gives the right groups for ${name}`, () => {
      assert.deepEqual(become(allowing('all').authorize, ...headers).groups, expected)
    })
  }

  it('gives a node its group only to who may act as any node for this very request', () => {
    const asNode = [
      'impersonate-on:arbitrary-node:get /version',
      'impersonate:arbitrary-node authentication.k8s.io nodes n1',
    ]
    const legacy = 'impersonate users system:node:n1'
    const headers = ['Impersonate-User', 'system:node:n1']
    assert.deepEqual(become(allowing(...asNode).authorize, ...headers).groups, [
      'system:nodes',
      'system:authenticated',
    ])
    for (const half of asNode) {
      assert.deepEqual(become(allowing(half, legacy).authorize, ...headers).groups, [
        'system:authenticated',
      ])
    }
  })
})
