import assert from 'node:assert/strict'
import {randomUUID} from 'node:crypto'
import {stringify} from 'yaml'
import {
  generateCertificateKey,
  sealWith,
  type CertificateKey,
} from '../../../src/bootstrap/certificate-key.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {KUBEADM, OURS} from '../../../src/control-plane/config/config-kinds.ts'
import {receive, requireStoreOf, withEtcd} from '../../../src/control-plane/join-plane/received.ts'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {describeWithOwnEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const SECRET = {namespace: 'kube-system', name: 'kubeadm-certs'}
const EVIL = 'https://192.0.2.66:2379'
const REAL = 'https://192.0.2.1:2379'

describe('what a machine of the control plane gets from the cluster', () => {
  let server: TestServer
  let client: ApiClient
  let fixture: PlaneFixture
  let key: CertificateKey
  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
    fixture = await planeFixture({
      etcdServers: [REAL],
      servingDomains: ['example.com'],
      controlPlaneEndpoint: 'api.example.com:6443',
    })
    fixture.context.connect = () => Promise.resolve(server.clientAs(ADMIN))
    key = generateCertificateKey()
    fixture.context.certificateKey = key
    await fixture.provide('certs')
    await fixture.run('upload-certs')
    await client.configMaps.create({
      metadata: {namespace: 'kube-system', name: 'kubeadm-config'},
      data: {
        ClusterConfiguration: stringify({
          apiVersion: KUBEADM,
          kind: 'ClusterConfiguration',
          clusterName: 'named',
          etcd: {external: {endpoints: [EVIL], caFile: '/tmp/evil.crt'}},
        }),
        [OURS.kind]: stringify({
          ...OURS,
          etcdPrefix: '/evil',
          auditLogPath: '/tmp/evil.log',
          servingDomains: ['evil.example'],
          authorities: [{name: 'evil-ca', onChange: 'touch /tmp/evil'}],
        }),
      },
    })
  })
  afterEach(async () => {
    await fixture.remove()
    await server.stop()
  })

  /** As kubeadm and earlier releases upload it. */
  const unseal = async () => {
    const secret = await client.secrets.get(SECRET)
    const {'trustadm-settings': _, ...data} = secret.data ?? {}
    await client.secrets.update({...secret, data})
  }
  const received = () => receive(client, key, {})

  it('is what the certificate key seals, whatever kubeadm-config says', async () => {
    const all = await received()
    const {choices, claimed, mark} = all
    assert.deepEqual([choices.etcdServers, choices.etcdPrefix], [[REAL], '/trustadm'])
    assert.deepEqual(
      [choices.servingDomains, choices.controlPlaneEndpoint, choices.clusterName],
      [['example.com'], 'api.example.com:6443', 'kubernetes'],
    )
    assert.deepEqual(claimed, {})
    const {metadata} = await client.namespaces.get('kube-system')
    assert.deepEqual(mark, {key: '/registry/core/namespaces/kube-system', uid: metadata.uid})
    assert.deepEqual((await withEtcd(all, {}, '/pki')).etcdServers, [REAL])
  })

  it('is no command, path or address of a store that only kubeadm-config names', async () => {
    await unseal()
    const {choices, claimed} = await received()
    assert.deepEqual(choices, {clusterName: 'named'})
    assert.deepEqual(claimed, {etcdServers: [EVIL], etcdPrefix: '/evil'})
  })

  it('is no store without a word of the operator, and an error names the flags', async () => {
    await unseal()
    const all = await received()
    await assert.rejects(withEtcd(all, {}, '/pki'), (error: Error & {hints: unknown[]}) => {
      assert.match(error.message, /only the ConfigMap kube-system\/kubeadm-config names the etcd/)
      assert.match(JSON.stringify(error.hints), /with --etcd-servers and --etcd-prefix"/)
      return true
    })
    const refused = withEtcd(all, {etcdServers: [REAL]}, '/pki', () => Promise.resolve(false))
    await assert.rejects(refused, {code: 'USAGE'})
    const flags = {etcdServers: [REAL], etcdPrefix: '/mine'}
    const {etcdServers, etcdPrefix} = {...(await withEtcd(all, flags, '/pki')), ...flags}
    assert.deepEqual([etcdServers, etcdPrefix], [[REAL], '/mine'])
  })

  it('is the store that a person on a terminal vouches for', async () => {
    await unseal()
    const asked: string[] = []
    const choices = await withEtcd(await received(), {}, '/pki', (question) => {
      asked.push(question)
      return Promise.resolve(true)
    })
    assert.match(asked.join(), /https:\/\/192\.0\.2\.66:2379 and the prefix \/evil/)
    assert.deepEqual([choices.etcdServers, choices.etcdPrefix], [[EVIL], '/evil'])
  })

  it('is nothing sealed by another key, or sealed as something else', async () => {
    const secret = await client.secrets.get(SECRET)
    const replacedBy = (value: string) => ({
      ...secret,
      data: {...secret.data, 'trustadm-settings': value},
    })
    const other = sealWith(generateCertificateKey(), Buffer.from('{}')).toString('base64')
    const {metadata} = await client.secrets.update(replacedBy(other))
    await assert.rejects(received(), {code: 'CERTS_UNUSABLE'})
    await client.secrets.update({...replacedBy(secret.data?.['ca.crt'] ?? ''), metadata})
    await assert.rejects(received(), {code: 'CERTS_UNUSABLE'})
  })
})

describeWithOwnEtcd('the store that a machine of the control plane gets', () => {
  let etcd: EtcdCluster
  before(async () => {
    etcd = await startEtcd()
  })
  after(() => etcd.stop())

  it('is refused if it is not the one of the cluster', async () => {
    const prefix = `/${randomUUID()}`
    const key = '/registry/core/namespaces/kube-system'
    const fixture = await planeFixture({etcdServers: etcd.servers, etcdPrefix: prefix})
    const {plane} = fixture.context
    try {
      await assert.rejects(requireStoreOf(plane, {key, uid: 'a'}), {code: 'CONFLICT'})
      const storage = await openEtcdStorage({servers: etcd.servers, prefix}, {patience: 5000})
      await storage.create(key, Buffer.from(JSON.stringify({metadata: {uid: 'b'}})))
      await storage.close()
      await assert.rejects(
        requireStoreOf(plane, {key, uid: 'a'}),
        /is not the store of this cluster/,
      )
      await assert.rejects(requireStoreOf(plane, {key, uid: ''}), {code: 'CONFLICT'})
      await requireStoreOf(plane, {key, uid: 'b'})
    } finally {
      await fixture.remove()
    }
  })
})
