import assert from 'node:assert/strict'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api, type Answer} from '../support.ts'

const ENFORCE = 'pod-security.kubernetes.io/enforce'
const MOUNTABLE = 'kubernetes.io/enforce-mountable-secrets'
const ACCOUNTS = '/api/v1/namespaces/strict/serviceaccounts'
const PODS = '/api/v1/namespaces/strict/pods'

const warned = (subject: string) =>
  `299 - "${subject} has no effect: this server does not check what pods may do; see \\"Pod Security\\" in docs/security.md"`
const warningsOf = ({headers}: Answer) => headers.Warning ?? []

const pod = (name: string, serviceAccountName: string) => ({
  metadata: {name},
  spec: {serviceAccountName, containers: [{name: 'c', image: 'i'}]},
})

describe('settings of Pod Security, which is not enforced here', () => {
  let server: TestServer
  let api: Api
  before(async () => {
    server = await startTestServer({controllers: false})
    api = new Api(server.handler)
    await api.post('/api/v1/namespaces', {
      metadata: {name: 'strict', labels: {[ENFORCE]: 'restricted'}},
    })
    await api.post(ACCOUNTS, {metadata: {name: 'default'}})
    await api.post(ACCOUNTS, {metadata: {name: 'robot', annotations: {[MOUNTABLE]: 'true'}}})
  })
  after(() => server.stop())

  it('are stored with a warning for whoever sets one, by a create, an update, a patch or an apply', async () => {
    const path = '/api/v1/namespaces'
    const named = (name: string, value: string) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {name, labels: {[ENFORCE]: value}},
    })
    const url = `${path}/labelled`
    for (const [value, answer] of [
      ['baseline', await api.post(path, named('labelled', 'baseline'))],
      ['restricted', await api.put(url, named('labelled', 'restricted'))],
      ['privileged', await api.patch(url, {metadata: {labels: {[ENFORCE]: 'privileged'}}})],
      [
        'baseline',
        await api.patch(`${url}?fieldManager=m&force=true`, named('labelled', 'baseline'), 'apply'),
      ],
    ] as const) {
      assert.deepEqual(warningsOf(answer), [warned(`the label ${ENFORCE}`)])
      assert.equal(answer.body.metadata.labels?.[ENFORCE], value)
    }
  })

  it('are not warned of when something else changes', async () => {
    const other = await api.patch('/api/v1/namespaces/strict', {metadata: {labels: {a: 'b'}}})
    const robot = await api.patch(`${ACCOUNTS}/robot`, {metadata: {labels: {a: 'b'}}})
    assert.deepEqual([other.status, warningsOf(other)], [200, []])
    assert.deepEqual([robot.status, warningsOf(robot)], [200, []])
  })

  it('of a service account are stored with a warning', async () => {
    const answer = await api.patch(`${ACCOUNTS}/default`, {
      metadata: {annotations: {[MOUNTABLE]: 'true'}},
    })
    assert.deepEqual(
      [answer.status, warningsOf(answer)],
      [200, [warned(`the annotation ${MOUNTABLE}`)]],
    )
    await api.patch(`${ACCOUNTS}/default`, {metadata: {annotations: null}})
  })

  it('give whoever creates a pod there a warning, and the pod is created', async () => {
    const ofNamespace = warned(`the label ${ENFORCE} of the namespace strict`)
    const plain = await api.post(PODS, pod('a', 'default'))
    assert.deepEqual([plain.status, warningsOf(plain)], [201, [ofNamespace]])
    const asRobot = await api.post(PODS, pod('b', 'robot'))
    assert.deepEqual(
      [asRobot.status, warningsOf(asRobot)],
      [201, [ofNamespace, warned(`the annotation ${MOUNTABLE} of the service account robot`)]],
    )
    const changed = await api.patch(`${PODS}/a`, {metadata: {labels: {a: 'b'}}})
    assert.deepEqual([changed.status, warningsOf(changed)], [200, []])
  })
})
