import assert from 'node:assert/strict'
import {readFile, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {formatToken} from '../../../src/bootstrap/token.ts'
import {resolveAccess} from '../../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../../src/client/kubeconfig-files.ts'
import {readJournal, type Action} from '../../../src/control-plane/ca-rotation/journal.ts'
import {
  withClient,
  type RotationContext,
} from '../../../src/control-plane/ca-rotation/rotation-context.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {completeToken, createToken} from '../../../src/control-plane/tokens/create.ts'
import {joinTarget} from '../../../src/control-plane/tokens/join-command.ts'
import {discover} from '../../../src/discovery/discover.ts'
import {TrustError} from '../../../src/errors.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {privateKeyPem} from '../../../src/pki/keys.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {systemClock} from '../../../src/runtime.ts'
import {testAuthority, validAround} from '../../pki/support.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, observer, serveFixture} from './support.ts'

describe('a rotation of a CA of the cluster whose key is elsewhere', function () {
  this.timeout(60_000)
  let fixture: PlaneFixture
  let stop: () => Promise<void>
  let token: string
  const pki = (name: string) => readFile(join(fixture.dir, 'pki', name), 'utf8')

  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    await rm(join(fixture.dir, 'pki', 'ca.key'))
    stop = await serveFixture(fixture)
    await fixture.run('namespaces', 'rbac', 'cluster-info')
    const info = completeToken({}, systemClock.now())
    await withClient(contextFor(fixture.context.plane), (client) => createToken(client, info))
    token = formatToken(info.token)
  })
  after(() => stop())

  const act = (action: Action, more: Partial<RotationContext> = {}) => {
    const context = {...contextFor(fixture.context.plane), ...more}
    return rotate(context, action, {wait: false, observer})
  }

  const lineNow = async () =>
    joinTarget(await resolveAccess(await loadKubeconfig(join(fixture.dir, 'admin.conf'))))
  /** What becomes of a machine whose join line has these pins: the CAs it trusts then, or why it stops. */
  const joinWith = async (...caCertHashes: string[]) => {
    const {server} = await lineNow()
    try {
      return (await discover({token, endpoints: [server], caCertHashes})).pins
    } catch (error) {
      if (error instanceof TrustError) return error.code
      throw error
    }
  }

  it('is refused before anything is written, and works with the next CA of its owner', async () => {
    const before = await pki('ca.crt')
    await assert.rejects(act('start'), {
      code: 'SIGNER_KEY_MISSING',
      message: /the CA "ca" is not on this machine/,
    })
    assert.deepEqual(
      [await readJournal(fixture.context.plane), await pki('ca.crt')],
      [undefined, before],
    )

    const next = await testAuthority({commonName: 'next', validity: validAround(new Date(), 40)})
    const keyPem = privateKeyPem(next.keys.privateKey)
    const brought = new Map([['ca', {certificatePem: next.pem, keyPem}]])
    await act('start', {brought})
    // Nothing can certify the new one with the key of the old one.
    const names = parseBundle(await pki('ca.crt')).map(({subject}) => subject.commonName)
    assert.deepEqual(names, ['kubernetes', 'next'])
    const serving = async () => parseCertificate(await pki('apiserver.crt')).issuer.commonName
    assert.equal(await serving(), 'kubernetes')
    const [oldPin, newPin] = [pinOf(parseCertificate(before)), pinOf(next.certificate)]
    const {caCertHashes} = await lineNow()
    assert.deepEqual(caCertHashes, [oldPin, newPin])
    assert.deepEqual(
      [await joinWith(oldPin), await joinWith(newPin), await joinWith(...caCertHashes)],
      ['CA_UNPINNED', 'CA_UNPINNED', [oldPin, newPin]],
    )

    const {journal} = await act('complete')
    assert.deepEqual(
      [journal.phase, await serving(), await pki('ca.crt'), await pki('ca.key')],
      ['Completed', 'next', next.pem, keyPem],
    )
    assert.deepEqual((await lineNow()).caCertHashes, [newPin])
    assert.deepEqual(
      [await joinWith(oldPin), await joinWith(newPin), await joinWith(...caCertHashes)],
      ['PIN_MISMATCH', [newPin], [newPin]],
    )
  })
})
