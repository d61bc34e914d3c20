import assert from 'node:assert/strict'
import {readFile, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {keepAndCreateKeys} from '../../../src/control-plane/ca-rotation/generations.ts'
import {newJournal} from '../../../src/control-plane/ca-rotation/new-journal.ts'
import {TrustError} from '../../../src/errors.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

describe('the journal of a rotation that begins', () => {
  let fixture: PlaneFixture
  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs')
  })
  after(() => fixture.remove())

  it('is refused with a CA that it does not rotate, or that is in use', async () => {
    const {plane} = fixture.context
    const certificatePem = await readFile(join(fixture.dir, 'pki/ca.crt'), 'utf8')
    const keyPem = await readFile(join(fixture.dir, 'pki/ca.key'), 'utf8')
    const begin = (id: string, only?: string[]) =>
      newJournal(
        plane,
        undefined,
        {brought: new Map([[id, {certificatePem, keyPem}]]), ...(only && {only})},
        systemClock.now(),
      )
    for (const id of ['coffee-ca', 'sa']) {
      const error = await begin(id).catch((found: unknown) => found)
      assert.ok(error instanceof TrustError)
      assert.equal(error.code, 'USAGE')
      assert.match(error.suggestions.join(), /ca, front-proxy-ca, client-ca/)
    }
    await assert.rejects(begin('front-proxy-ca', ['legacy-unknown-ca']), {code: 'USAGE'})
    await assert.rejects(begin('ca'), {code: 'USAGE', message: /in use already/})
    const {brought} = await begin('front-proxy-ca')
    const {fingerprint} = parseCertificate(certificatePem)
    assert.deepEqual(brought, [{id: 'front-proxy-ca', fingerprint}])
  })

  it('notes whether it leaves out some of the CAs', async () => {
    const isPartial = async (only: string[]) =>
      (await newJournal(fixture.context.plane, undefined, {only}, systemClock.now())).isPartial
    assert.equal(await isPartial(['front-proxy-ca']), true)
    const {units} = await newJournal(fixture.context.plane, undefined, {}, systemClock.now())
    assert.equal(await isPartial(units.map(({id}) => id)), undefined)
  })

  it('is refused while there are CAs of a rotation that no journal knows', async () => {
    const {plane} = fixture.context
    const folder = join(fixture.dir, 'pki/rotation')
    await keepAndCreateKeys(plane)
    await assert.rejects(newJournal(plane, undefined, {}, systemClock.now()), {
      code: 'CONFLICT',
      message: new RegExp(`^${folder} has the CAs of a rotation`),
    })
    await rm(folder, {recursive: true})
    const {phase} = await newJournal(plane, undefined, {}, systemClock.now())
    assert.equal(phase, 'Prepare')
  })
})
