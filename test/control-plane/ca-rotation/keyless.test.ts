import assert from 'node:assert/strict'
import {readFile, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {connectAsAdmin} from '../../../src/control-plane/admin.ts'
import {readJournal, type Action} from '../../../src/control-plane/ca-rotation/journal.ts'
import type {RotationContext} from '../../../src/control-plane/ca-rotation/perform.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {savePlane} from '../../../src/control-plane/config/stored.ts'
import {serve, type RunningPlane} from '../../../src/control-plane/serve.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {privateKeyPem} from '../../../src/pki/keys.ts'
import {systemClock} from '../../../src/runtime.ts'
import {testAuthority, validAround} from '../../pki/support.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const silent = () => undefined
const observer = {begin: silent, end: silent, waiting: silent}

describe('a rotation of a CA of the cluster whose key is elsewhere', function () {
  this.timeout(60_000)
  let fixture: PlaneFixture
  let running: RunningPlane
  const pki = (name: string) => readFile(join(fixture.dir, 'pki', name), 'utf8')

  before(async () => {
    fixture = await planeFixture()
    await fixture.run('certs', 'kubeconfig')
    await rm(join(fixture.dir, 'pki', 'ca.key'))
    await savePlane(fixture.context.plane)
    running = await serve(fixture.context.plane, {clock: systemClock, log: silent})
  })
  after(async () => {
    process.emit('SIGTERM')
    await running.ended
    await fixture.remove()
  })

  const act = (action: Action, more: Partial<RotationContext> = {}) => {
    const {plane} = fixture.context
    const common = {plane, clock: systemClock, tell: silent, warn: silent}
    return rotate({...common, connect: connectAsAdmin, ...more}, action, {wait: false, observer})
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

    const next = await testAuthority({commonName: 'next', validity: validAround(new Date(), 30)})
    const keyPem = privateKeyPem(next.keys.privateKey)
    const brought = new Map([['ca', {certificatePem: next.pem, keyPem}]])
    await act('start', {brought})
    // Nothing can certify the new one with the key of the old one.
    const names = parseBundle(await pki('ca.crt')).map(({subject}) => subject.commonName)
    assert.deepEqual(names, ['kubernetes', 'next'])
    const serving = async () => parseCertificate(await pki('apiserver.crt')).issuer.commonName
    assert.equal(await serving(), 'kubernetes')

    const {journal} = await act('complete')
    assert.deepEqual(
      [journal.phase, await serving(), await pki('ca.crt'), await pki('ca.key')],
      ['Completed', 'next', next.pem, keyPem],
    )
  })
})
