import assert from 'node:assert/strict'
import {readFile, rename, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {createServer} from 'node:tls'
import type {AddressInfo} from 'node:net'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect, connectTo} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {startEmbedded, type EmbeddedPlane} from '../../src/control-plane/embedded.ts'
import {checkExpiration} from '../../src/control-plane/expiration.ts'
import type {SigningSettings} from '../../src/control-plane/signing.ts'
import {API_SERVER_CLIENT, KUBELET_SERVING, LEGACY_UNKNOWN} from '../../src/csr/signers.ts'
import {userKubeconfig} from '../../src/control-plane/user-kubeconfig.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {systemClock} from '../../src/runtime.ts'
import {
  approve,
  csrFor,
  eventually,
  pemOf,
  settled,
  type Wish,
} from '../controllers/signing/support.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

const BETA = {
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  plural: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
}
const DAY = 86_400_000
const MAP = {namespace: 'kube-system', name: 'kubelet-serving-ca'}
const serving: Wish = {
  signerName: KUBELET_SERVING,
  usages: ['digital signature', 'server auth'],
  names: {dns: ['one'], ips: ['127.0.0.1']},
}

describe('the CAs that the API server and its clients are not known by', () => {
  let fixture: PlaneFixture
  let embedded: EmbeddedPlane
  let client: ApiClient
  let lines: string[] = []
  const pki = (name: string) => join(fixture.dir, 'pki', name)
  const admin = () => connect(join(fixture.dir, 'super-admin.conf'))
  const access = async () => resolveAccess(await loadKubeconfig(join(fixture.dir, 'admin.conf')))

  async function start(signing?: SigningSettings): Promise<void> {
    lines = []
    const log = (line: string) => void lines.push(line)
    embedded = await startEmbedded(fixture.context.plane, {clock: systemClock, log, signing})
    client = await admin()
  }
  async function stop(): Promise<void> {
    await client.close()
    await embedded.close(0)
  }
  beforeEach(async () => {
    fixture = await planeFixture()
    fixture.context.connect = admin
    await fixture.provide('certs', 'kubeconfig')
  })
  afterEach(() => fixture.remove())

  const signed = async (wish: Wish) => {
    await approve(client, await client.csrs.create(await csrFor(wish)))
    return pemOf(await settled(client, wish.name ?? 'one'))
  }
  const published = async () => (await client.configMaps.find(MAP))?.data?.['ca-bundle.crt']

  it('sign what a node serves with, so that nobody takes it for the API server', async () => {
    await start()
    const keys = await generateKeys()
    const cert = await signed({...serving, keys})
    const impostor = createServer({key: privateKeyPem(keys.privateKey), cert}, (socket) =>
      socket.end(),
    )
    await new Promise<void>((listening) => impostor.listen(0, '127.0.0.1', listening))
    try {
      const {port} = impostor.address() as AddressInfo
      const {ca} = await access()
      const victim = connectTo({server: `https://127.0.0.1:${port}`, ca}, {retry: {attempts: 1}})
      await assert.rejects(victim.version(), {code: 'SERVER_NOT_TRUSTED'})
      await victim.close()
    } finally {
      impostor.close()
      await stop()
    }
  })

  it('sign for a node without a person, by its own credentials and for its own name; not for the API server’s', async () => {
    await start()
    await fixture.run('namespaces', 'rbac', 'kubeadm-config', 'cluster-info')
    const node = 'worker-1'
    const addresses = ['127.0.0.1', 'one', 'localhost'].map((address) => ({
      type: 'InternalIP',
      address,
    }))
    await client.nodes.create({metadata: {name: node}})
    await client.nodes.patch(node, {status: {addresses}}, {type: 'merge', subresource: 'status'})
    const content = await userKubeconfig(
      fixture.context.plane,
      {name: `system:node:${node}`, groups: ['system:nodes']},
      systemClock,
    )
    const kubelet = await connect({content})
    const commonName = `system:node:${node}`
    const ask = async (name: string, names: Wish['names'] = {}) =>
      kubelet.csrs.create(await csrFor({...serving, name, commonName, names}))
    await ask('as-server', {dns: ['one'], ips: ['127.0.0.1']})
    await ask('as-itself', {dns: [node]})
    const {issuer, names} = parseCertificate(pemOf(await settled(client, 'as-itself')))
    assert.equal(issuer.commonName, 'kubelet-serving-ca')
    assert.deepEqual(names.dns, [node])
    const held = await eventually(async () => {
      const fieldSelector = 'involvedObject.name=as-server,reason=KubeletServingHeld'
      return (await client.events.list({namespace: 'default', fieldSelector})).items[0]
    })
    // "one" is the name of the API server's machine in this test.
    assert.match(held.message ?? '', /"one" is a single word.*"127\.0\.0\.1" is a loopback address/)
    assert.equal((await client.csrs.get('as-server')).status?.certificate, undefined)
    await kubelet.close()
    await stop()
  })

  it('are told to callers of kubelets in a ConfigMap, which is restored and kept current', async () => {
    await start()
    const own = await readFile(pki('kubelet-serving-ca.crt'), 'utf8')
    const {issuer} = parseCertificate(await signed(serving))
    assert.equal(issuer.commonName, 'kubelet-serving-ca')
    await eventually(async () => (await published()) === own)
    await client.configMaps.delete(MAP)
    await eventually(async () => (await published()) === own)

    await rm(pki('kubelet-serving-ca.crt'))
    await rm(pki('kubelet-serving-ca.key'))
    await fixture.run('certs')
    await embedded.reload()
    const next = await readFile(pki('kubelet-serving-ca.crt'), 'utf8')
    assert.notEqual(next, own)
    await eventually(async () => (await published()) === next)
    await stop()
  })

  it('are trusted for nothing else: not for clients, not as the root of the cluster', async () => {
    await start()
    const config = {namespace: 'kube-system', name: 'extension-apiserver-authentication'}
    const trusted = (await client.configMaps.get(config)).data?.['client-ca-file'] ?? ''
    const root = await eventually(() =>
      client.configMaps.find({namespace: 'default', name: 'kube-root-ca.crt'}),
    )
    const cluster = await readFile(pki('ca.crt'), 'utf8')
    assert.equal(trusted, cluster)
    assert.equal(root.data?.['ca.crt'], cluster)
    await stop()
  })

  it('make no login of a legacy-unknown certificate of system:masters, whoever approved it', async () => {
    await start()
    const approver = 'legacy-approver'
    await client.clusterRoles.create({
      metadata: {name: approver},
      rules: [
        {
          apiGroups: ['certificates.k8s.io'],
          resources: ['certificatesigningrequests', 'certificatesigningrequests/approval'],
          verbs: ['create', 'get', 'update'],
        },
        {
          apiGroups: ['certificates.k8s.io'],
          resources: ['signers'],
          resourceNames: [LEGACY_UNKNOWN],
          verbs: ['approve'],
        },
      ],
    })
    await client.clusterRoleBindings.create({
      metadata: {name: approver},
      roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: approver},
      subjects: [{kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: approver}],
    })
    const {server, ca} = await access()
    const own = await resolveAccess(await loadKubeconfig(join(fixture.dir, 'super-admin.conf')))
    const someone = connectTo({...own, impersonate: {username: approver, groups: []}})
    const keys = await generateKeys()
    const asked = await csrFor({
      name: 'masters',
      signerName: LEGACY_UNKNOWN,
      commonName: 'mallory',
      organizations: ['system:masters'],
      keys,
    })
    const created = await someone.resource<CertificateSigningRequest>(BETA).create(asked)
    await approve(someone, await someone.csrs.get(created.metadata.name ?? ''))
    const certificate = pemOf(await settled(client, 'masters'))
    const {subject, issuer} = parseCertificate(certificate)
    assert.deepEqual(subject.organizations, ['system:masters'])
    assert.equal(issuer.commonName, 'legacy-unknown-ca')

    const clientCertificate = {certificate, key: privateKeyPem(keys.privateKey)}
    const mallory = connectTo({server, ca, clientCertificate}, {retry: {attempts: 1}})
    await assert.rejects(mallory.secrets.list(), {code: 'UNAUTHORIZED'})
    await Promise.all([mallory.close(), someone.close()])
    await stop()
  })

  it('leave no way to system:masters where flags give legacy-unknown a CA that clients are known by', async () => {
    const files = {certificate: pki('ca.crt'), key: pki('ca.key')}
    await start({filesOf: {[LEGACY_UNKNOWN]: files}, duration: DAY})
    const asked = await csrFor({signerName: LEGACY_UNKNOWN, organizations: ['system:masters']})
    await assert.rejects(client.resource(BETA).create(asked), {code: 'FORBIDDEN'})
    await stop()
  })

  it('are not replaced by the CA of the flags for all signers', async () => {
    const files = {certificate: pki('ca.crt'), key: pki('ca.key')}
    await start({files, filesOf: {}, duration: DAY})
    const {issuer} = parseCertificate(await signed(serving))
    assert.equal(issuer.commonName, 'kubelet-serving-ca')
    await stop()
  })

  it('give way to another that the flags for kubelet-serving name, which is told too', async () => {
    const files = {certificate: pki('front-proxy-ca.crt'), key: pki('front-proxy-ca.key')}
    await start({filesOf: {[KUBELET_SERVING]: files}, duration: DAY})
    const {issuer} = parseCertificate(await signed(serving))
    assert.equal(issuer.commonName, 'front-proxy-ca')
    const named = await readFile(files.certificate, 'utf8')
    await eventually(async () => (await published())?.includes(named))
    await stop()
  })

  it('are made by the next init where an older release left none; until then their signers wait', async () => {
    for (const name of ['kubelet-serving-ca', 'legacy-unknown-ca']) {
      for (const end of ['crt', 'key'])
        await rename(pki(`${name}.${end}`), pki(`${name}.${end}.old`))
    }
    await start()
    assert.match(
      lines.join('\n'),
      /nothing is signed for kubernetes\.io\/kubelet-serving: there is no CA "kubelet-serving-ca" in .*; run "trustadm init --dir .*"/,
    )
    await approve(client, await client.csrs.create(await csrFor({...serving, name: 'early'})))
    const {issuer} = parseCertificate(await signed({name: 'client', signerName: API_SERVER_CLIENT}))
    assert.equal(issuer.commonName, 'kubernetes')
    assert.equal((await client.csrs.get('early')).status?.certificate, undefined)
    const {certificateAuthorities} = await checkExpiration(fixture.context.plane, systemClock)
    const missing = certificateAuthorities.filter(({problems}) => problems.length > 0)
    assert.deepEqual(
      missing.map(({name}) => name),
      ['kubelet-serving-ca', 'legacy-unknown-ca'],
    )

    await fixture.run('certs')
    await embedded.reload()
    assert.equal(
      parseCertificate(await signed({...serving, name: 'late'})).issuer.commonName,
      'kubelet-serving-ca',
    )
    await stop()
  })
})
