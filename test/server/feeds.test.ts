import assert from 'node:assert/strict'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {keyRevocation} from '../../src/trust/revocations.ts'
import {startTestServer} from '../helpers/test-server.ts'
import {bundleOf} from '../helpers/test-trust.ts'
import {get1} from './http/support.ts'
import {Api} from './support.ts'

const PODS = '/api/v1/namespaces/default/pods'

async function serve(storage = openMemoryStorage()) {
  const server = await startTestServer({controllers: false, storage})
  const admin = new Api(server.handler)
  await admin.post('/api/v1/namespaces/default/serviceaccounts', {metadata: {name: 'default'}})
  const node = (name: string) => admin.as(`system:node:${name}`, 'system:nodes')
  const reads = async (name: string) =>
    (await node(name).get('/api/v1/namespaces/default/secrets/key')).status === 404
  return {server, admin, reads}
}

const pod = (name: string, spec: object = {}) => ({
  metadata: {name},
  spec: {
    containers: [{name: 'c', image: 'i'}],
    volumes: [{name: 'v', secret: {secretName: 'key'}}],
    ...spec,
  },
})

describe('feedNodeGraph', () => {
  it('follows a pod from its binding to its end', async () => {
    const {server, admin, reads} = await serve()
    await admin.post(PODS, pod('p'))
    assert.equal(await reads('n1'), false)
    const binding = {metadata: {name: 'p'}, target: {kind: 'Node', name: 'n1'}}
    assert.equal((await admin.post(`${PODS}/p/binding`, binding)).status, 201)
    assert.equal(await reads('n1'), true)
    assert.equal(await reads('n2'), false)
    await admin.patch(`${PODS}/p/status`, {status: {phase: 'Succeeded'}})
    assert.equal(await reads('n1'), true)
    await admin.delete(`${PODS}/p?gracePeriodSeconds=0`)
    assert.equal(await reads('n1'), false)
    await server.stop()
  })

  it('knows the pods that were there before a restart', async () => {
    const storage = openMemoryStorage()
    const first = await serve(storage)
    await first.admin.post(PODS, pod('p', {nodeName: 'n1'}))
    await first.server.close(0)
    const second = await serve(storage)
    assert.equal(await second.reads('n1'), true)
    await second.server.stop()
  })

  it('reads pods with nothing if lists could be', async () => {
    const {server, admin, reads} = await serve()
    const empty = {imagePullSecrets: null, initContainers: null, ephemeralContainers: null}
    const container = {name: 'c', image: 'i', env: null, envFrom: null}
    const made = await admin.post(
      PODS,
      pod('p', {...empty, nodeName: 'n1', containers: [container], resourceClaims: null}),
    )
    assert.equal(made.status, 201, made.text)
    const bare = pod('bare', {nodeName: 'n1', volumes: null, automountServiceAccountToken: false})
    assert.equal((await admin.post(PODS, bare)).status, 201)
    for (const change of [
      {spec: {volumes: [null]}},
      {spec: {volumes: [{name: 'v', projected: {sources: [null]}}]}},
    ]) {
      const {status} = await admin.post(PODS, {...pod('odd', {nodeName: 'n1'}), ...change})
      assert.ok(status < 500, String(status))
    }
    assert.equal(await reads('n1'), true)
    assert.deepEqual(server.errors, [])
    await server.stop()
  })
})

describe('feedRevocations', () => {
  const MAPS = '/api/v1/namespaces/kube-system/configmaps'
  const NAME = 'trustadm-revoked-certificates'

  async function served(storage = openMemoryStorage()) {
    const server = await startTestServer({controllers: false, storage})
    const admin = new Api(server.handler)
    const credentials = await server.credentialsFor('ann', ['system:masters'])
    const revocation = {[keyRevocation(pinOf(parseCertificate(credentials.certificate)))]: '{}'}
    const status = async () => (await get1(server, '/api/v1/nodes', {credentials})).status
    return {server, admin, credentials, revocation, status}
  }

  it('follows every ConfigMap of the list, and no other', async () => {
    const {server, admin, revocation, status} = await served()
    await admin.post(MAPS, {metadata: {name: `${NAME}-other`}, data: revocation})
    await admin.post('/api/v1/namespaces/default/configmaps', {
      metadata: {name: NAME},
      data: revocation,
    })
    assert.equal(await status(), 200)
    await admin.post(MAPS, {metadata: {name: `${NAME}-2`}, data: revocation})
    assert.equal(await status(), 401)
    await admin.patch(`${MAPS}/${NAME}`, {data: revocation})
    await admin.delete(`${MAPS}/${NAME}-2`)
    assert.equal(await status(), 401)
    await admin.delete(`${MAPS}/${NAME}`)
    assert.equal(await status(), 200)
    await server.stop()
  })

  it('knows what was revoked before a restart', async () => {
    const storage = openMemoryStorage()
    const {server: first, admin, revocation, credentials} = await served(storage)
    const other = await first.credentialsFor('bob', ['system:masters'])
    await admin.patch(`${MAPS}/${NAME}`, {data: revocation})
    await first.close(0)
    const {server} = await served(storage)
    await server.setTrust({bundles: {client: bundleOf(first.ca)}})
    assert.equal((await get1(server, '/api/v1/nodes', {credentials: other})).status, 200)
    assert.equal((await get1(server, '/api/v1/nodes', {credentials})).status, 401)
    await server.stop()
  })
})
