import assert from 'node:assert/strict'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {encoded, requestPem} from '../resources/certificates.ts'
import {Api} from '../support.ts'

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const OLD_CSRS = '/apis/certificates.k8s.io/v1beta1/certificatesigningrequests'
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const PODS = '/api/v1/namespaces/default/pods'

describe('subresources and further versions', () => {
  let server: TestServer
  let api: Api

  before(async () => {
    server = await startTestServer({controllers: false})
    api = new Api(server.handler)
    await api.post(ACCOUNTS, {metadata: {name: 'default'}})
  })
  after(() => server.stop())

  it('give a service account a token that names it', async () => {
    const {status, body} = await api.post(`${ACCOUNTS}/default/token`, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      spec: {expirationSeconds: 600},
    })
    assert.equal(status, 201)
    assert.deepEqual([body.kind, body.spec.expirationSeconds], ['TokenRequest', 600])
    const review = await api.post('/apis/authentication.k8s.io/v1/tokenreviews', {
      spec: {token: body.status.token},
    })
    assert.equal(review.status, 201)
    assert.equal(review.body.status.user.username, 'system:serviceaccount:default:default')
    const missing = await api.post(`${ACCOUNTS}/nobody/token`, {spec: {}})
    assert.deepEqual(
      [missing.status, missing.body.message],
      [404, 'serviceaccounts "nobody" not found'],
    )
  })

  it('bind a pod to a node, once', async () => {
    await api.post(PODS, {metadata: {name: 'p'}, spec: {containers: [{name: 'c', image: 'i'}]}})
    const binding = {
      kind: 'Binding',
      apiVersion: 'v1',
      metadata: {name: 'p'},
      target: {kind: 'Node', name: 'n1'},
    }
    const before = await api.get(`${PODS}/p`)
    const other = await api.post(`${PODS}/p/binding`, {...binding, metadata: {name: 'q'}})
    assert.deepEqual(
      [other.status, other.body.message],
      [400, 'name in URL does not match name in Binding object'],
    )
    const bound = await api.post(`${PODS}/p/binding`, binding)
    assert.deepEqual([bound.status, bound.body.kind], [201, 'Status'])
    const {spec, metadata} = (await api.get(`${PODS}/p`)).body
    assert.equal(spec.nodeName, 'n1')
    assert.equal(metadata.generation, before.body.metadata.generation)
    assert.deepEqual(metadata.managedFields, before.body.metadata.managedFields)
    assert.equal((await api.post(`${PODS}/p/binding`, binding)).status, 409)
  })

  it('let a namespace go once it is deleted and its finalizers are empty', async () => {
    await api.post('/api/v1/namespaces', {metadata: {name: 'going'}})
    const deleted = await api.delete('/api/v1/namespaces/going')
    assert.deepEqual([deleted.body.kind, deleted.body.status.phase], ['Namespace', 'Terminating'])
    const refused = await api.post('/api/v1/namespaces/going/configmaps', {metadata: {name: 'x'}})
    assert.equal(refused.status, 403)
    assert.equal(refused.body.details.causes[0].reason, 'NamespaceTerminating')
    const {status} = await api.put('/api/v1/namespaces/going/finalize', {
      ...deleted.body,
      spec: {finalizers: []},
    })
    assert.equal(status, 200)
    assert.equal((await api.get('/api/v1/namespaces/going')).status, 404)
  })

  for (const name of ['default', 'kube-system', 'kube-public']) {
    it(`never let the namespace ${name} go`, async () => {
      const {status, body} = await api.delete(`/api/v1/namespaces/${name}`)
      assert.equal(status, 403)
      assert.match(body.message, /this namespace may not be deleted/)
    })
  }

  it('serve CSRs as v1beta1 too, with a warning, and store them once', async () => {
    const request = encoded(await requestPem())
    const old = await api.post(OLD_CSRS, {metadata: {name: 'old'}, spec: {request}})
    assert.equal(old.status, 201, old.text)
    assert.equal(old.body.apiVersion, 'certificates.k8s.io/v1beta1')
    assert.equal(old.body.spec.signerName, 'kubernetes.io/legacy-unknown')
    assert.match(String(old.headers.Warning), /v1beta1 CertificateSigningRequest is deprecated/)
    const current = await api.get(`${CSRS}/old`)
    assert.equal(current.body.apiVersion, 'certificates.k8s.io/v1')
    assert.equal(current.headers.Warning, undefined)
    assert.equal(current.body.metadata.uid, old.body.metadata.uid)
    assert.equal((await api.get(OLD_CSRS)).body.kind, 'CertificateSigningRequestList')
  })

  it('show each watcher events in the version it asked for', async () => {
    const watches = [await api.watch(CSRS), await api.watch(OLD_CSRS)]
    await api.post(CSRS, {
      metadata: {name: 'both'},
      spec: {
        request: encoded(await requestPem()),
        signerName: 'example.com/x',
        usages: ['client auth'],
      },
    })
    for (const watch of watches)
      await watch.until(() => watch.events.some(({object}) => object.metadata.name === 'both'))
    assert.deepEqual(
      watches.map((watch) => watch.events.at(-1)?.object.apiVersion),
      ['certificates.k8s.io/v1', 'certificates.k8s.io/v1beta1'],
    )
    for (const watch of watches) await watch.stop()
  })

  it('keep the approval of a CSR apart from its status', async () => {
    const condition = {type: 'Approved', status: 'True', reason: 'r', message: 'm'}
    const {body: csr} = await api.get(`${CSRS}/both`)
    const certificate = encoded('not looked at here')
    const approved = await api.put(`${CSRS}/both/approval`, {
      ...csr,
      status: {conditions: [condition], certificate},
    })
    assert.equal(approved.status, 200, approved.text)
    assert.equal(approved.body.status.conditions[0].type, 'Approved')
    assert.equal('certificate' in approved.body.status, false)
    const main = await api.put(`${CSRS}/both`, {...approved.body, status: {}})
    assert.equal(main.body.status.conditions[0].type, 'Approved')
  })

  it('answer reviews with 201 and store nothing', async () => {
    const before = (await api.get('/api/v1/namespaces')).body.metadata.resourceVersion
    const reviews: [string, object, (status: any) => void][] = [
      [
        'authorization.k8s.io/v1/subjectaccessreviews',
        {spec: {user: 'ann', resourceAttributes: {verb: 'get', resource: 'secrets'}}},
        (status) => assert.equal(status.allowed, false),
      ],
      [
        'authorization.k8s.io/v1/selfsubjectaccessreviews',
        {spec: {resourceAttributes: {verb: 'get', resource: 'secrets'}}},
        (status) => assert.equal(status.allowed, true),
      ],
      [
        'authorization.k8s.io/v1/selfsubjectrulesreviews',
        {spec: {namespace: 'default'}},
        (status) => assert.ok(Array.isArray(status.resourceRules)),
      ],
      [
        'authentication.k8s.io/v1/selfsubjectreviews',
        {},
        (status) => assert.equal(status.userInfo.username, 'admin'),
      ],
      [
        'authentication.k8s.io/v1/tokenreviews',
        {spec: {token: 'nonsense'}},
        (status) => assert.equal(status.error, 'invalid bearer token'),
      ],
    ]
    for (const [path, body, check] of reviews) {
      const answer = await api.post(`/apis/${path}`, body)
      assert.equal(answer.status, 201, answer.text)
      check(answer.body.status)
    }
    const after = (await api.get('/api/v1/namespaces')).body.metadata.resourceVersion
    assert.equal(after, before)
  })

  it('answer a local review only for its own namespace', async () => {
    const path = '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews'
    const attributes = (namespace: string) => ({
      metadata: {namespace: 'default'},
      spec: {user: 'ann', resourceAttributes: {verb: 'get', resource: 'pods', namespace}},
    })
    assert.equal((await api.post(path, attributes('default'))).status, 201)
    assert.equal((await api.post(path, attributes('kube-system'))).status, 422)
  })
})
