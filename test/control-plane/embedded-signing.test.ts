import assert from 'node:assert/strict'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import {startEmbedded, type EmbeddedPlane} from '../../src/control-plane/embedded.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {systemClock} from '../../src/runtime.ts'
import {approve, csrFor, pemOf, settled} from '../controllers/signing/support.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

/** Approved by nobody but us. */
const USER = {
  name: 'ada',
  commonName: 'ada',
  signerName: 'kubernetes.io/kube-apiserver-client',
}

describe('signing in the embedded control plane', () => {
  let fixture: PlaneFixture
  let embedded: EmbeddedPlane
  const problems: string[] = []
  const log = (line: string) => void problems.push(line)
  const admin = () => connect(join(fixture.dir, 'super-admin.conf'))

  before(async () => {
    fixture = await planeFixture()
    fixture.context.connect = admin
    await fixture.run('certs', 'kubeconfig')
    embedded = await startEmbedded(fixture.context.plane, {clock: systemClock, log})
  })
  after(async () => {
    await embedded.close(0)
    await fixture.remove()
    assert.deepEqual(problems, [])
  })

  it('signs an approved request with the CA of the cluster', async () => {
    const client = await admin()
    await approve(client, await client.csrs.create(await csrFor(USER)))
    const {subject, issuer} = parseCertificate(pemOf(await settled(client, 'ada')))
    assert.equal(subject.commonName, 'ada')
    assert.equal(issuer.commonName, 'kubernetes')
    await client.close()
  })
})
