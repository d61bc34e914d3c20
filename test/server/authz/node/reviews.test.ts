import assert from 'node:assert/strict'
import {startTestServer, type TestServer} from '../../../helpers/test-server.ts'
import {Api, type AnyBody} from '../../support.ts'

const GROUP = '/apis/authorization.k8s.io/v1'
const WHY = 'node authorizer does not support user rule resolution'

describe('reviews of what a node may do', () => {
  let server: TestServer
  let admin: Api
  let node: Api

  before(async () => {
    server = await startTestServer({controllers: false})
    admin = new Api(server.handler)
    node = admin.as('system:node:n1', 'system:nodes')
    await admin.post('/api/v1/namespaces/default/serviceaccounts', {metadata: {name: 'default'}})
    const {status, text} = await admin.post('/api/v1/namespaces/default/pods', {
      metadata: {name: 'p'},
      spec: {
        nodeName: 'n1',
        containers: [{name: 'c', image: 'i'}],
        volumes: [{name: 'v', secret: {secretName: 'key'}}],
      },
    })
    assert.equal(status, 201, text)
  })

  after(() => server.stop())

  interface Verdict {
    allowed: boolean
    reason?: string
  }
  const verdictOf = ({status}: AnyBody) => status as Verdict
  const secret = (name: string) => ({
    resourceAttributes: {verb: 'get', resource: 'secrets', namespace: 'default', name},
  })

  it('answer by the same paths as requests', async () => {
    const subject = {user: 'system:node:n1', groups: ['system:nodes']}
    const ask = async (name: string) => {
      const spec = {...subject, ...secret(name)}
      return verdictOf((await admin.post(`${GROUP}/subjectaccessreviews`, {spec})).body)
    }
    assert.deepEqual(await ask('key'), {allowed: true})
    assert.deepEqual(await ask('other'), {
      allowed: false,
      reason: "no relationship found between node 'n1' and this object",
    })
  })

  it('answer the node itself', async () => {
    const ask = async (name: string) => {
      const spec = secret(name)
      return verdictOf((await node.post(`${GROUP}/selfsubjectaccessreviews`, {spec})).body)
    }
    assert.equal((await ask('key')).allowed, true)
    assert.equal((await ask('other')).allowed, false)
  })

  const selectors: [name: string, fieldSelector: object, allowed: boolean][] = [
    ['a selector', {rawSelector: 'spec.nodeName=n1'}, true],
    ["another node's", {rawSelector: 'spec.nodeName=n2'}, false],
    [
      'a requirement',
      {requirements: [{key: 'spec.nodeName', operator: 'In', values: ['n1']}]},
      true,
    ],
    [
      'its opposite',
      {requirements: [{key: 'spec.nodeName', operator: 'NotIn', values: ['n1']}]},
      false,
    ],
    [
      'one that lets others in',
      {requirements: [{key: 'spec.nodeName', operator: 'In', values: ['n1', 'n2']}]},
      false,
    ],
    [
      'one hidden in a value',
      {requirements: [{key: 'status.phase', operator: 'In', values: ['x,spec.nodeName=n1']}]},
      false,
    ],
  ]
  for (const [name, fieldSelector, allowed] of selectors) {
    it(`read ${name} of a review`, async () => {
      const spec = {resourceAttributes: {verb: 'list', resource: 'pods', fieldSelector}}
      const {body} = await node.post(`${GROUP}/selfsubjectaccessreviews`, {spec})
      assert.equal(verdictOf(body).allowed, allowed)
    })
  }

  it('say that a list of rules is not all, to nodes only', async () => {
    const review = {spec: {namespace: 'default'}}
    const ofNode = (await node.post(`${GROUP}/selfsubjectrulesreviews`, review)).body.status
    assert.deepEqual(
      {incomplete: ofNode.incomplete, evaluationError: ofNode.evaluationError},
      {incomplete: true, evaluationError: WHY},
    )
    const other = (await admin.post(`${GROUP}/selfsubjectrulesreviews`, review)).body.status
    assert.equal(other.incomplete, false)
  })

  it('count for an administrator who acts as a node by its name alone', async () => {
    const headers = {'Impersonate-User': 'system:node:n1'}
    const path = '/api/v1/namespaces/default/secrets'
    // There is a path to the one, which does not exist, and none to the other.
    assert.equal((await admin.get(`${path}/key`, {headers})).status, 404)
    assert.equal((await admin.get(`${path}/other`, {headers})).status, 403)
    const named = await admin.post('/api/v1/nodes', {metadata: {name: 'n2'}}, {headers})
    assert.equal(named.status, 403)
    assert.match(named.body.message, /node "n1" is not allowed to modify node "n2"$/)
  })
})
