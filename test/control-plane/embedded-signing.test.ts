import assert from 'node:assert/strict'
import {readFile, rename, truncate, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect, connectTo} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {fileOf} from '../../src/control-plane/config/plane.ts'
import {startEmbedded, type EmbeddedPlane} from '../../src/control-plane/embedded.ts'
import {listIssuances} from '../../src/control-plane/issuances.ts'
import type {SigningSettings} from '../../src/control-plane/signing.ts'
import {API_SERVER_CLIENT, KUBELET_CLIENT} from '../../src/csr/signers.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {systemClock} from '../../src/runtime.ts'
import {
  APPROVAL,
  approve,
  csrFor,
  pemOf,
  settled,
  type Wish,
} from '../controllers/signing/support.ts'
import {testAuthority, validAround} from '../pki/support.ts'
import {until} from '../server/support.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

/** Approved by nobody but us. */
const user = (name: string): Wish => ({name, commonName: name, signerName: API_SERVER_CLIENT})

describe('signing in the embedded control plane', () => {
  let fixture: PlaneFixture
  let embedded: EmbeddedPlane
  let client: ApiClient
  const problems: string[] = []
  const log = (line: string) => void problems.push(line)
  const admin = () => connect(join(fixture.dir, 'super-admin.conf'))
  const own = (name: string) => join(fixture.dir, name)

  /** A CA in two files, replaced as operators do. */
  async function writeAuthority(commonName: string, days = 30): Promise<void> {
    const {pem, keys} = await testAuthority({commonName, validity: validAround(new Date(), days)})
    await writeFile(own('own.crt'), pem)
    await writeFile(own('own.key'), privateKeyPem(keys.privateKey), {mode: 0o600})
  }

  const signed = async (wish: Wish) => {
    await approve(client, await client.csrs.create(await csrFor(wish)))
    return parseCertificate(pemOf(await settled(client, wish.name ?? '')))
  }

  before(async () => {
    fixture = await planeFixture()
    fixture.context.connect = admin
    await fixture.provide('certs', 'kubeconfig')
    await writeAuthority('first')
    const files = {certificate: own('own.crt'), key: own('own.key')}
    const signing: SigningSettings = {
      filesOf: {[API_SERVER_CLIENT]: files},
      duration: 3_600_000,
    }
    const {plane} = fixture.context
    embedded = await startEmbedded(plane, {clock: systemClock, log, signing})
    client = await admin()
  })
  after(async () => {
    await client.close()
    await embedded.close(0)
    await fixture.remove()
    assert.deepEqual(problems, [])
  })

  it('signs with the CA of the cluster where a client signer has none of its own', async () => {
    // csr-approver approves it: who asks may do everything.
    await client.csrs.create(await csrFor({name: 'node', signerName: KUBELET_CLIENT}))
    const certificate = parseCertificate(pemOf(await settled(client, 'node')))
    const {subject, issuer, notBefore, notAfter} = certificate
    assert.equal(subject.commonName, 'system:node:one')
    assert.equal(issuer.commonName, 'kubernetes')
    assert.equal(notAfter.getTime() - notBefore.getTime(), 65 * 60_000)
  })

  it('signs with the CA of a signer, and knows who shows such a certificate', async () => {
    const keys = await generateKeys()
    const wish = {...user('ada'), keys}
    assert.equal((await signed(wish)).issuer.commonName, 'first')
    const {server, ca} = await resolveAccess(await loadKubeconfig(own('super-admin.conf')))
    const certificate = pemOf(await client.csrs.get('ada'))
    const key = privateKeyPem(keys.privateKey)
    const ada = connectTo({server, ca, clientCertificate: {certificate, key}})
    const {status} = await ada.selfSubjectReviews.create({metadata: {}})
    assert.equal(status?.userInfo?.username, 'ada')
    await ada.close()
  })

  it('signs with a new CA once it has reread its files', async () => {
    await writeAuthority('second')
    await embedded.reload()
    assert.equal((await signed(user('bea'))).issuer.commonName, 'second')
  })

  it('keeps the old CA where the new one cannot be used', async () => {
    await rename(own('own.key'), own('kept.key'))
    await writeFile(own('own.key'), 'garbage')
    await assert.rejects(embedded.reload(), {code: 'KEY_INVALID'})
    assert.equal((await signed(user('cis'))).issuer.commonName, 'second')
    await rename(own('kept.key'), own('own.key'))
  })

  it('keeps a log of what it signs', async () => {
    const file = fileOf(fixture.context.plane, 'issuances')
    const {entries} = await listIssuances(file, log)
    const names = entries.map((entry) => ('request' in entry ? entry.request : entry.decision))
    assert.deepEqual(names, ['node', 'ada', 'bea', 'cis'])
  })

  it('notices while it runs that its log was cut off: nothing is signed, and the server is not ready', async () => {
    const file = fileOf(fixture.context.plane, 'issuances')
    await signed(user('before-the-cut'))
    const whole = await readFile(file)
    await truncate(file, 10)
    const ready = () => client.raw('/readyz/issuance-log')
    await assert.rejects(ready(), /was cut off or rewritten[^]*put back, or moved away/)
    const csr = await client.csrs.create(await csrFor(user('after-the-cut')))
    await approve(client, csr)
    await until(() => problems.some((line) => line.includes('was cut off or rewritten')))
    assert.equal((await client.csrs.get('after-the-cut')).status?.certificate, undefined)
    await writeFile(file, whole)
    assert.equal((await ready()).trim(), 'ok')
    await settled(client, 'after-the-cut')
    problems.length = 0
  })

  it('leaves a signer of somebody else to that: others approve and sign through the API', async () => {
    const csr = await client.csrs.create(
      await csrFor({...user('custom'), signerName: 'example.com/mine', usages: ['any']}),
    )
    const approved = await client.csrs.updateSubresource('approval', {
      ...csr,
      status: {conditions: [APPROVAL]},
    })
    // The signer has seen it by the time it has signed a later one.
    await signed(user('later'))
    assert.equal((await client.csrs.get('custom')).status?.certificate, undefined)
    const {status} = await client.csrs.updateStatus({
      ...approved,
      status: {
        ...approved.status,
        certificate: (await client.csrs.get('ada')).status?.certificate ?? '',
      },
    })
    assert.ok(status?.certificate)
  })
})
