import assert from 'node:assert/strict'
import {KeyObject} from 'node:crypto'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import type {SignerSettings} from '../../src/control-plane/config/signers.ts'
import {savePlane} from '../../src/control-plane/config/stored.ts'
import {startEmbedded, type EmbeddedPlane} from '../../src/control-plane/embedded.ts'
import {findCondition} from '../../src/csr/conditions.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {privateKeyPem} from '../../src/pki/keys.ts'
import {encodePem} from '../../src/pki/pem.ts'
import {systemClock} from '../../src/runtime.ts'
import {approve, csrFor, pemOf, settled, type Wish} from '../controllers/signing/support.ts'
import {makeAuthority} from '../pki/certificate-builder.ts'
import {testAuthority, validAround} from '../pki/support.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

const SERVICES = 'example.com/services'
const SERVER = ['digital signature', 'server auth']
const ROLE = 'trustadm:csr-signer'

describe('signers that an operator adds', () => {
  let fixture: PlaneFixture
  let embedded: EmbeddedPlane
  let client: ApiClient
  const problems: string[] = []
  const own = (name: string) => join(fixture.dir, name)
  const start = () =>
    startEmbedded(fixture.context.plane, {
      clock: systemClock,
      log: (line) => void problems.push(line),
    })

  const writeAuthority = async (pem: string, key: KeyObject) => {
    await writeFile(own('services.crt'), pem)
    await writeFile(own('services.key'), privateKeyPem(key), {mode: 0o600})
  }
  const signer = (change: Partial<SignerSettings> = {}): SignerSettings => ({
    name: SERVICES,
    // Relative to the folder of the control plane.
    certificate: 'services.crt',
    key: 'services.key',
    usages: SERVER,
    commonName: '*.example.com',
    organizations: [],
    names: ['dns'],
    maxValidityPeriod: 3_600_000,
    trustedFor: [],
    ...change,
  })
  /** Writes them into config.yaml, and has the server read it. */
  const configure = async (...signers: SignerSettings[]) => {
    const {plane} = fixture.context
    await savePlane({...plane, settings: {...plane.settings, signers}})
    await embedded.reload()
  }
  const outcome = async (wish: Wish) => {
    const defaults = {signerName: SERVICES, organizations: [], usages: SERVER}
    const csr = await csrFor({commonName: 'web.example.com', ...defaults, ...wish})
    await approve(client, await client.csrs.create(csr))
    return await settled(client, wish.name ?? '')
  }
  const signedNames = async () =>
    ((await client.clusterRoles.get(ROLE)).rules ?? []).flatMap(
      ({resourceNames = []}) => resourceNames,
    )

  before(async () => {
    fixture = await planeFixture()
    fixture.context.connect = () => connect(own('super-admin.conf'))
    await fixture.provide('certs', 'kubeconfig')
    const validity = validAround(new Date())
    const {pem, keys} = await testAuthority({commonName: 'services', validity})
    await writeAuthority(pem, keys.privateKey)
    embedded = await start()
    client = await connect(own('super-admin.conf'))
  })
  after(async () => {
    await client.close()
    await embedded.close(0)
    await fixture.remove()
    assert.deepEqual(problems, [])
  })

  it('sign by their CA and rules once the server has read them', async () => {
    await configure(signer())
    const {issuer, notBefore, notAfter} = parseCertificate(pemOf(await outcome({name: 'web'})))
    assert.equal(issuer.commonName, 'services')
    assert.equal(notAfter.getTime() - notBefore.getTime(), 65 * 60_000)
    const refused = await outcome({name: 'other', commonName: 'web.example.org'})
    assert.match(findCondition(refused, 'Failed')?.message ?? '', /the common name is/)
  })

  it('are all that csr-signer may sign for besides Kubernetes’ own, as long as they are there', async () => {
    await configure(signer(), signer({name: 'example.com/more'}))
    assert.deepEqual(await signedNames(), ['example.com/more', SERVICES])
    await configure()
    assert.deepEqual(await signedNames(), [])
  })

  it('may not use a CA that the cluster trusts', async () => {
    const cluster = {certificate: 'pki/ca.crt', key: 'pki/ca.key'}
    await assert.rejects(configure(signer(cluster)), {
      code: 'CONFIG_INVALID',
      message:
        /signer example\.com\/services: the CA in .*ca\.crt is trusted for api-server, client/,
    })
    const kubelets = {certificate: 'pki/kubelet-serving-ca.crt', key: 'pki/kubelet-serving-ca.key'}
    await assert.rejects(configure(signer(kubelets)), {message: /trusted for kubelet-serving;/})
    const proxies = {certificate: 'pki/front-proxy-ca.crt', key: 'pki/front-proxy-ca.key'}
    await assert.rejects(configure(signer(proxies)), {message: /trusted for front-proxy;/})
  })

  it('may use one whose trust is stated, but not to become an administrator', async () => {
    const cluster = {certificate: 'pki/ca.crt', key: 'pki/ca.key'}
    await assert.rejects(configure(signer({...cluster, trustedFor: ['client']})), {
      message: /trusted for api-server;/,
    })
    await configure(signer({...cluster, trustedFor: ['api-server', 'client']}))
    const csr = await csrFor({signerName: SERVICES, organizations: ['system:masters']})
    await assert.rejects(client.csrs.create(csr), {code: 'FORBIDDEN', message: /system:masters/})
  })

  it('may use an intermediate CA only if its file shows who is above it', async () => {
    const validity = validAround(new Date())
    const root = await makeAuthority('corporate', validity)
    const below = await makeAuthority('intermediate', {by: root, ...validity})
    const key = KeyObject.from(below.keys.privateKey)
    const pem = encodePem('CERTIFICATE', below.der)
    await writeAuthority(pem, key)
    await assert.rejects(configure(signer()), {message: /add the certificates of the CAs above it/})
    await writeAuthority(pem + encodePem('CERTIFICATE', root.der), key)
    await configure(signer())
    assert.equal(
      parseCertificate(pemOf(await outcome({name: 'below'}))).issuer.commonName,
      'intermediate',
    )
  })

  it('keep a server from starting that cannot read them, and say why', async () => {
    await configure()
    const {plane} = fixture.context
    const missing = signer({key: 'nowhere.key'})
    await savePlane({...plane, settings: {...plane.settings, signers: [missing]}})
    await assert.rejects(start(), {message: /nowhere\.key/})
    await configure()
  })
})
