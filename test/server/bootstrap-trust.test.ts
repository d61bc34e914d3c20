import assert from 'node:assert/strict'
import {Agent} from 'node:https'
import {
  type BootstrapCertificate,
  createBootstrapCertificate,
} from '../../src/control-plane/bootstrap-credentials/create.ts'
import {parseBundle} from '../../src/pki/bundle.ts'
import {systemClock} from '../../src/runtime.ts'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import type {Storage} from '../../src/storage/storage.ts'
import {startTestServer, type TestServer} from '../helpers/test-server.ts'
import {get1, get2, session2} from './http/support.ts'
import {Api, until} from './support.ts'

const MAPS = '/api/v1/namespaces/kube-system/configmaps'
const MAP = `${MAPS}/kubelet-bootstrap-kubeconfig`
const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const WHO = {
  method: 'POST',
  headers: {'content-type': 'application/json'},
  body: JSON.stringify({kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1'}),
}

const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
/** As `bootstrap-credential create` makes it. */
const binding = (namespace: string) => ({
  metadata: {name: `trustadm:node-bootstrapper:${namespace}`},
  roleRef: {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'ClusterRole',
    name: 'system:node-bootstrapper',
  },
  subjects: [{kind: 'ServiceAccount', name: 'node-bootstrapper', namespace}],
})

const mapOf = (...credentials: BootstrapCertificate[]) => ({
  metadata: {name: 'kubelet-bootstrap-kubeconfig'},
  data: {'ca-bundle.crt': credentials.map(({authority}) => authority).join('')},
})

describe('the ConfigMap of bootstrap credentials', () => {
  let storage: Storage
  let server: TestServer
  let api: Api
  let credential: BootstrapCertificate
  let other: BootstrapCertificate
  before(async () => {
    credential = await createBootstrapCertificate('kube-system', systemClock)
    other = await createBootstrapCertificate('kube-system', systemClock)
  })
  beforeEach(async () => {
    storage = openMemoryStorage()
    server = await startTestServer({storage, controllers: false})
    api = new Api(server.handler)
  })
  afterEach(async () => {
    await server.stop()
  })

  const whoIs = async (credentials: BootstrapCertificate) =>
    await get1(server, REVIEW, {...WHO, credentials})
  const statusFor = async (credentials: BootstrapCertificate) => (await whoIs(credentials)).status
  const delegatedBundle = async () => {
    const {body} = await api.get(`${MAPS}/extension-apiserver-authentication`)
    return parseBundle(String(body.data['client-ca-file']))
  }
  const delegated = async () => (await delegatedBundle()).map(({subject}) => subject.commonName)
  const isDelegated = async ({authority}: BootstrapCertificate) => {
    const [own] = parseBundle(authority)
    return (await delegatedBundle()).some(({fingerprint}) => fingerprint === own?.fingerprint)
  }

  it('makes the server accept a credential, as the bootstrapper and nothing else', async () => {
    assert.equal(await statusFor(credential), 401)
    assert.equal((await api.post(MAPS, mapOf(credential))).status, 201)
    const {status, text} = await whoIs(credential)
    assert.equal(status, 201)
    const {userInfo} = (JSON.parse(text) as {status: {userInfo: object}}).status
    assert.deepEqual(
      {...userInfo, extra: undefined},
      {
        username: 'system:serviceaccount:kube-system:node-bootstrapper',
        groups: [
          'system:serviceaccounts',
          'system:serviceaccounts:kube-system',
          'system:authenticated',
        ],
        extra: undefined,
      },
    )
  })

  it('is followed on HTTP/1.1 and HTTP/2 connections that are open', async () => {
    await api.post(MAPS, mapOf(credential))
    const agent = new Agent({keepAlive: true, maxSockets: 1})
    const options = {...WHO, credentials: credential, agent}
    const session = await session2(server, credential)
    try {
      assert.equal((await get1(server, REVIEW, options)).status, 201)
      assert.equal((await get2(session, '/version')).status, 200)
      await api.delete(MAP)
      assert.equal((await get1(server, REVIEW, options)).status, 401)
      assert.equal((await get2(session, '/version')).status, 401)
      await api.post(MAPS, mapOf(credential))
      assert.equal((await get2(session, '/version')).status, 200)
    } finally {
      agent.destroy()
      session.destroy()
    }
  })

  it('revokes each credential alone', async () => {
    await api.post(MAPS, mapOf(credential, other))
    assert.deepEqual([await statusFor(credential), await statusFor(other)], [201, 201])
    await api.put(MAP, mapOf(other))
    assert.deepEqual([await statusFor(credential), await statusFor(other)], [401, 201])
  })

  it('is part of what delegated authenticators are told, and goes from there too', async () => {
    await api.post(MAPS, mapOf(credential))
    await until(async () => (await delegated()).length === 2)
    assert.deepEqual(await delegated(), ['kubernetes', 'kubelet-bootstrap-kubeconfig-signer'])
    await api.delete(MAP)
    await until(async () => (await delegated()).length === 1)
  })

  it('is not told any more if it goes while it is being told', async () => {
    const update = storage.update.bind(storage)
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    let told: Promise<unknown> | undefined
    const held = new Promise<void>((resolve) => {
      storage.update = (...write) => {
        storage.update = update
        told = released.then(() => update(...write))
        resolve()
        return told as ReturnType<typeof update>
      }
    })
    await api.post(MAPS, mapOf(credential))
    await held
    await api.delete(MAP)
    release()
    await told
    await until(async () => (await delegated()).length === 1)
  })

  it('stays in use when the CAs of the cluster are read again', async () => {
    await api.post(MAPS, mapOf(credential))
    await server.setTrust({})
    assert.equal(await statusFor(credential), 201)
  })

  it('means nothing in another namespace', async () => {
    await api.post('/api/v1/namespaces/default/configmaps', mapOf(credential))
    assert.equal(await statusFor(credential), 401)
  })

  it('of OpenShift is in another namespace, for another user of 73 characters', async () => {
    const namespace = 'openshift-machine-config-operator'
    const theirs = await createBootstrapCertificate(namespace, systemClock)
    await api.post('/api/v1/namespaces', {metadata: {name: 'openshift-config'}})
    const created = await api.post(
      '/api/v1/namespaces/openshift-config/configmaps',
      mapOf(theirs, credential),
    )
    assert.equal(created.status, 201)
    assert.equal(await statusFor(theirs), 401)
    await api.post(BINDINGS, binding(namespace))
    const {status, text} = await whoIs(theirs)
    assert.equal(status, 201)
    assert.match(text, new RegExp(`"system:serviceaccount:${namespace}:node-bootstrapper"`))
    assert.equal(await statusFor(credential), 401)
    await api.delete(`${BINDINGS}/${encodeURIComponent(binding(namespace).metadata.name)}`)
    assert.equal(await statusFor(theirs), 401)
  })

  it('of OpenShift is never part of what delegated authenticators are told', async () => {
    await api.post(BINDINGS, binding('openshift-machine-config-operator'))
    await api.post('/api/v1/namespaces', {metadata: {name: 'openshift-config'}})
    await api.post('/api/v1/namespaces/openshift-config/configmaps', mapOf(other))
    await api.post(MAPS, mapOf(credential))
    await until(async () => await isDelegated(credential))
    assert.equal(await isDelegated(other), false)
  })

  for (const [what, bundle] of [
    ['is not PEM', () => 'nonsense'],
    ['holds a certificate that is not a CA', () => credential.authority + credential.certificate],
    ['is too long', () => credential.authority + '\n'.repeat(1) + '#'.repeat(70_000)],
  ] as const) {
    it(`is not used at all where its bundle ${what}, and the server says so`, async () => {
      const {metadata} = mapOf()
      await api.post(MAPS, {metadata, data: {'ca-bundle.crt': bundle()}})
      assert.equal(await statusFor(credential), 401)
      assert.match(server.errors.join('\n'), /no CA of the ConfigMap kube-system\/kubelet-boot/)
      await api.put(MAP, mapOf(credential))
      assert.equal(await statusFor(credential), 201)
    })
  }
})
