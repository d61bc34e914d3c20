import assert from 'node:assert/strict'
import {appendFile, readdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {arrange} from '../../../src/control-plane/ca-rotation/arrange.ts'
import {
  createNew,
  describeKeys,
  keepAndCreateKeys,
  keepOld,
  readHeld,
  readHeldKeys,
} from '../../../src/control-plane/ca-rotation/generations.ts'
import {removeGenerations} from '../../../src/control-plane/ca-rotation/remove.ts'
import {unitFor, type Unit} from '../../../src/control-plane/ca-rotation/units.ts'
import {planReset} from '../../../src/control-plane/reset.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {generateKeys, publicKeyPem} from '../../../src/pki/keys.ts'
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
    await fixture.provide('certs')
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

describe('the public keys of service accounts beside the own one', () => {
  let fixture: PlaneFixture
  let own: string
  let other: string
  let unit: Unit
  const path = (...names: string[]) => join(fixture.dir, 'pki', ...names)
  const believed = async () => await readFile(path('sa.pub'), 'utf8')
  const nextKey = async () => (await readHeldKeys(fixture.context.plane, 'new'))?.publicPem ?? ''

  beforeEach(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs')
    own = await believed()
    other = publicKeyPem((await generateKeys()).publicKey)
    await writeFile(path('sa.pub'), other + own)
    const {plane} = fixture.context
    unit = unitFor(plane, {id: 'sa'})
    await keepAndCreateKeys(plane)
  })
  afterEach(() => fixture.remove())

  it('are believed while both generations are, whichever signs, and after an abort', async () => {
    const {plane} = fixture.context
    const trusts = ['old', 'new'] as const
    await arrange(plane, unit, {signs: 'old', trusts})
    assert.equal(await believed(), own + other + (await nextKey()))
    await arrange(plane, unit, {signs: 'new', trusts})
    assert.equal(await believed(), (await nextKey()) + own + other)
    await arrange(plane, unit, {signs: 'old', trusts: ['old']})
    assert.equal(await believed(), own + other)
    // They are the operator's.
    assert.ok((await planReset(plane)).kept.includes(path('sa.pub')))
  })

  it('leave with the old generation, for which their tokens count as well', async () => {
    const {plane} = fixture.context
    const held = await readHeldKeys(plane, 'old')
    assert.equal(held && describeKeys(held).others?.length, 1)
    await arrange(plane, unit, {signs: 'new', trusts: ['new']})
    assert.equal(await believed(), await nextKey())
    await removeGenerations(plane, 'old')
    await assert.rejects(readdir(path('rotation')), {code: 'ENOENT'})
  })

  it('are kept by a reset in the middle of a rotation', async () => {
    const {plane} = fixture.context
    await arrange(plane, unit, {signs: 'new', trusts: ['old', 'new']})
    const {files, kept} = await planReset(plane)
    assert.ok(kept.includes(path('rotation', 'old', 'sa.pub')))
    assert.ok(files.includes(path('rotation', 'old', 'sa.key')))
  })
})
