import assert from 'node:assert/strict'

import type {ApiObject} from '../../../src/api/meta.ts'
import type {AccessAttributes, OperationContext} from '../../../src/server/kernel/resource.ts'
import {createResources} from '../../../src/server/resources/index.ts'
import type {ServerServices} from '../../../src/server/kernel/services.ts'
import {StatusError} from '../../../src/server/kernel/status.ts'
import {ANN, NOW_TEXT, contextOf} from './support.ts'

const services: ServerServices = {
  audiences: ['https://kubernetes.default.svc'],
  rulesFor: (user, namespace) => ({
    resourceRules: [{verbs: [user.username], resources: [namespace]}],
    nonResourceRules: [],
    incomplete: false,
  }),
  reviewToken: (token, audiences) =>
    Promise.resolve(
      token === 'right'
        ? {authenticated: true, user: {username: 'ann', groups: []}, audiences}
        : {authenticated: false, error: 'invalid bearer token'},
    ),
  issueToken: () => Promise.reject(new Error('not asked for')),
}
const resources = createResources(services)

async function review(
  plural: string,
  body: object,
  context: OperationContext = contextOf(),
): Promise<ApiObject & Record<string, any>> {
  const row = resources.find((one) => one.plural === plural)
  assert.ok(row?.review)
  return row.review({metadata: {}, ...body}, context)
}

const refusal = async (plural: string, body: object) => {
  try {
    await review(plural, body)
  } catch (error) {
    assert.ok(error instanceof StatusError)
    return error.status
  }
  return assert.fail('was not refused')
}

describe('access reviews', () => {
  it('ask the authorizer about the user they name, with its groups as they are', async () => {
    const asked: unknown[] = []
    const context = contextOf({
      authorize: (user, attributes) => {
        asked.push(user, attributes)
        return {allowed: true, reason: 'because'}
      },
    })
    const resourceAttributes = {verb: 'get', resource: 'secrets', namespace: 'ns', version: '*'}
    const spec = {user: 'bob', groups: ['g'], resourceAttributes}
    const {status} = await review('subjectaccessreviews', {spec}, context)
    assert.deepEqual(status, {allowed: true, reason: 'because'})
    const attributes: AccessAttributes = {
      verb: 'get',
      resource: {
        group: '',
        version: '*',
        resource: 'secrets',
        subresource: '',
        namespace: 'ns',
        name: '',
      },
    }
    assert.deepEqual(asked, [{username: 'bob', groups: ['g']}, attributes])
  })

  it('ask about the caller in their self form', async () => {
    const context = contextOf({
      authorize: (user, {path}) => ({allowed: user === ANN && path === '/metrics', reason: ''}),
    })
    const spec = {nonResourceAttributes: {verb: 'get', path: '/metrics'}}
    const {status} = await review('selfsubjectaccessreviews', {spec}, context)
    assert.deepEqual(status, {allowed: true})
  })

  it('are about the namespace of the path in their local form', async () => {
    const context = contextOf({namespace: 'a'})
    const spec = {user: 'x', resourceAttributes: {verb: 'get', namespace: 'a'}}
    const {status, metadata} = await review('localsubjectaccessreviews', {spec}, context)
    assert.deepEqual([status, metadata.namespace], [{allowed: false}, 'a'])
  })

  it('say what kept the authorizer from an answer', async () => {
    const context = contextOf({
      authorize: () => ({allowed: false, reason: '', evaluationError: 'no such role'}),
    })
    const spec = {user: 'x', resourceAttributes: {verb: 'get'}}
    const {status} = await review('subjectaccessreviews', {spec}, context)
    assert.deepEqual(status, {allowed: false, evaluationError: 'no such role'})
  })

  it('refuse a question about nothing by nobody, in the words of a real server', async () => {
    const {message, details, code} = await refusal('subjectaccessreviews', {spec: {}})
    assert.equal(code, 422)
    assert.equal(
      message,
      '.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]',
    )
    assert.deepEqual([details?.group, details?.kind], ['authorization.k8s.io', undefined])
  })

  const refusals: [plural: string, body: object, text: RegExp][] = [
    [
      'subjectaccessreviews',
      {spec: {user: 'x', resourceAttributes: {}, nonResourceAttributes: {}}},
      /spec.nonResourceAttributes: .*cannot be specified in combination with resourceAttributes$/,
    ],
    [
      'subjectaccessreviews',
      {metadata: {name: 'x'}, spec: {user: 'x', resourceAttributes: {}}},
      /metadata: Invalid value: {"name":"x"}: must be empty$/,
    ],
    [
      'localsubjectaccessreviews',
      {
        metadata: {namespace: 'a'},
        spec: {user: 'x', resourceAttributes: {namespace: 'b', verb: 'get'}},
      },
      /spec.resourceAttributes.namespace: Invalid value: "b": must match metadata.namespace$/,
    ],
    [
      'localsubjectaccessreviews',
      {metadata: {namespace: 'a'}, spec: {user: 'x', nonResourceAttributes: {path: '/x'}}},
      /spec.nonResourceAttributes: .* disallowed on this kind of request$/,
    ],
    [
      'selfsubjectaccessreviews',
      {spec: {resourceAttributes: {fieldSelector: {}}}},
      /spec.resourceAttributes.fieldSelector.requirements: Required value/,
    ],
    ['selfsubjectrulesreviews', {spec: {}}, /^no namespace on request$/],
    ['tokenreviews', {spec: {}}, /^token is required for TokenReview in authentication$/],
  ]
  for (const [plural, body, text] of refusals) {
    it(`refuse ${JSON.stringify(body)} as ${plural}`, async () => {
      assert.match((await refusal(plural, body)).message ?? '', text)
    })
  }

  it('list the rules of the caller in a namespace', async () => {
    const {status} = await review('selfsubjectrulesreviews', {spec: {namespace: 'ns'}})
    assert.deepEqual(status.resourceRules, [{verbs: ['ann'], resources: ['ns']}])
  })
})

describe('authentication reviews', () => {
  it('tell who a token is for', async () => {
    const {status} = await review('tokenreviews', {spec: {token: 'right', audiences: ['a']}})
    assert.deepEqual(status, {authenticated: true, user: {username: 'ann'}, audiences: ['a']})
  })

  it('tell that a token is for nobody', async () => {
    const {status} = await review('tokenreviews', {spec: {token: 'nonsense'}})
    assert.deepEqual(status, {user: {}, error: 'invalid bearer token'})
  })

  it('tell the caller who it is', async () => {
    const user = {username: 'u', groups: ['b', 'a'], extra: {k: ['v']}}
    const {status, metadata} = await review('selfsubjectreviews', {}, contextOf({user}))
    assert.deepEqual(status, {userInfo: user})
    assert.equal(metadata.creationTimestamp, NOW_TEXT)
  })
})
