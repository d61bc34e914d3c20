import assert from 'node:assert/strict'
import type {ApiObject} from '../../../src/api/meta.ts'
import type {TokenOrder} from '../../../src/server/kernel/services.ts'
import {StatusError} from '../../../src/server/kernel/status.ts'
import {createResources} from '../../../src/server/resources/index.ts'
import {contextOf, NOW_TEXT} from './support.ts'

const account: ApiObject = {metadata: {name: 'robot', namespace: 'ns', uid: 'sa-uid'}}
const objects = {
  pods: [
    {
      metadata: {name: 'p', namespace: 'ns', uid: 'pod-uid'},
      spec: {serviceAccountName: 'robot', nodeName: 'n1'},
    },
    {
      metadata: {name: 'other', namespace: 'ns', uid: 'other-uid'},
      spec: {serviceAccountName: 'default'},
    },
  ],
  nodes: [{metadata: {name: 'n1', uid: 'node-uid'}}],
}
const context = contextOf({namespace: 'ns', name: 'robot', subresource: 'token', objects})

async function request(body: object) {
  const orders: TokenOrder[] = []
  const resources = createResources({
    audiences: ['https://issuer'],
    rulesFor: () => assert.fail(),
    reviewToken: () => assert.fail(),
    issueToken: (order) => {
      orders.push(order)
      return Promise.resolve({token: 'jwt', expires: new Date('2026-01-02T04:04:05.900Z')})
    },
  })
  const create = resources.find(({plural}) => plural === 'serviceaccounts')?.subresources?.token
    ?.create
  assert.ok(create)
  const answer = await create({metadata: {}, ...body}, account, context)
  return {answer, order: orders[0]}
}

const bound = (reference: object) => ({spec: {boundObjectRef: {apiVersion: 'v1', ...reference}}})

describe('tokens of service accounts', () => {
  it('are for the server and an hour where nothing else is asked for', async () => {
    const {answer, order} = await request({spec: {}})
    assert.deepEqual(order, {
      serviceAccount: {namespace: 'ns', name: 'robot', uid: 'sa-uid'},
      audiences: ['https://issuer'],
      expirationSeconds: 3600,
    })
    assert.deepEqual(answer, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {name: 'robot', namespace: 'ns', uid: 'sa-uid', creationTimestamp: NOW_TEXT},
      spec: {audiences: ['https://issuer'], expirationSeconds: 3600, boundObjectRef: null},
      status: {token: 'jwt', expirationTimestamp: '2026-01-02T04:04:05Z'},
    })
  })

  it('are bound to a pod and the node it is on', async () => {
    const {order} = await request(bound({kind: 'Pod', name: 'p', uid: 'pod-uid'}))
    assert.deepEqual(order?.bound, {
      kind: 'Pod',
      name: 'p',
      uid: 'pod-uid',
      node: {name: 'n1', uid: 'node-uid'},
    })
  })

  const refusals: [name: string, body: object, code: number, message: RegExp][] = [
    [
      'five seconds',
      {spec: {expirationSeconds: 5}},
      422,
      /^TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes$/,
    ],
    [
      'more than 2^32 seconds',
      {spec: {expirationSeconds: 2 ** 32 + 1}},
      422,
      /may not specify a duration larger than 2\^32 seconds$/,
    ],
    ['another name', {metadata: {name: 'x'}}, 422, /must match the service account name/],
    [
      'another namespace',
      {metadata: {namespace: 'x'}},
      422,
      /must match the service account names/,
    ],
    [
      'a binding to a ConfigMap',
      bound({kind: 'ConfigMap', name: 'p'}),
      400,
      /^cannot bind token to object of type \/v1, Kind=ConfigMap$/,
    ],
    ['a binding to a missing pod', bound({kind: 'Pod', name: 'x'}), 404, /^pods "x" not found$/],
    [
      'a binding to a pod of another account',
      bound({kind: 'Pod', name: 'other'}),
      400,
      /to pod running with different serviceaccount name/,
    ],
    [
      'a binding to a pod of the same name',
      bound({kind: 'Pod', name: 'p', uid: 'old'}),
      409,
      /the UID in the bound object reference \(old\) does not match the UID in record/,
    ],
  ]
  for (const [name, body, code, message] of refusals) {
    it(`are refused for ${name}`, async () => {
      await assert.rejects(request(body), (error) => {
        assert.ok(error instanceof StatusError)
        assert.equal(error.code, code)
        assert.match(error.message, message)
        return true
      })
    })
  }
})
