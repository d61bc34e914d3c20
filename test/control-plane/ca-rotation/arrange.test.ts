import assert from 'node:assert/strict'
import {appendFile, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {arrange} from '../../../src/control-plane/ca-rotation/arrange.ts'
import {createNew, keepOld, readHeld} from '../../../src/control-plane/ca-rotation/generations.ts'
import {unitFor, type Unit} from '../../../src/control-plane/ca-rotation/units.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {AUTHORITY_LIFETIME, authorityValidity} from '../../../src/pki/lifetimes.ts'
import {systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

describe('the files of a CA with several certificates', () => {
  let fixture: PlaneFixture
  let before: string
  let unit: Unit
  const file = async () => await readFile(join(fixture.dir, 'pki', 'ca.crt'), 'utf8')
  const prints = (pem: string) => parseBundle(pem).map(({fingerprint}) => fingerprint)

  beforeEach(async () => {
    fixture = await planeFixture()
    await fixture.run('certs')
    const now = systemClock.now()
    const other = await createAuthorityCertificate(
      {commonName: 'other'},
      await generateKeys(),
      authorityValidity(now, AUTHORITY_LIFETIME),
    )
    await appendFile(join(fixture.dir, 'pki', 'ca.crt'), other)
    before = await file()
    const {plane} = fixture.context
    unit = unitFor(plane, {id: 'ca'})
    await keepOld(plane, unit)
    await createNew(plane, unit, {now})
  })
  afterEach(() => fixture.remove())

  it('keep all of them while both generations are trusted, whichever signs', async () => {
    const {plane} = fixture.context
    const next = (await readHeld(plane, unit, 'new'))?.certificate.fingerprint
    const trusts = ['old', 'new'] as const
    await arrange(plane, unit, {signs: 'old', trusts})
    assert.deepEqual(prints(await file()), [...prints(before), next])
    await arrange(plane, unit, {signs: 'new', trusts})
    assert.deepEqual(prints(await file()), [next, ...prints(before)])
  })

  it('have all of them again after an abort', async () => {
    const {plane} = fixture.context
    await arrange(plane, unit, {signs: 'new', trusts: ['old', 'new']})
    await arrange(plane, unit, {signs: 'old', trusts: ['old']})
    assert.deepEqual(prints(await file()), prints(before))
  })

  it('have none of them once only the new generation is trusted', async () => {
    const {plane} = fixture.context
    await arrange(plane, unit, {signs: 'new', trusts: ['new']})
    const next = (await readHeld(plane, unit, 'new'))?.certificate.fingerprint
    assert.deepEqual(prints(await file()), [next])
  })
})
