import assert from 'node:assert/strict'
import {access, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {
  addAuthority,
  removeAuthority,
} from '../../../src/control-plane/ca-rotation/add-authority.ts'
import {writeJournal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {newJournal} from '../../../src/control-plane/ca-rotation/new-journal.ts'
import {unitFor, unitsOf} from '../../../src/control-plane/ca-rotation/units.ts'
import {listAuthorities} from '../../../src/control-plane/ca-rotation/authorities.ts'
import {loadPlane, savePlane} from '../../../src/control-plane/config/stored.ts'
import {planReset} from '../../../src/control-plane/reset.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../../src/pki/keys.ts'
import {AUTHORITY_LIFETIME, authorityValidity} from '../../../src/pki/lifetimes.ts'
import {systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

describe('a CA that an operator adds', () => {
  let fixture: PlaneFixture
  const tell = () => undefined
  const options = {clock: systemClock, tell}
  const pki = (name: string) => join(fixture.dir, 'pki', name)
  const read = (name: string) => readFile(pki(name), 'utf8')
  const bring = async () => {
    const keys = await generateKeys()
    const validity = authorityValidity(systemClock.now(), AUTHORITY_LIFETIME)
    return {
      certificatePem: await createAuthorityCertificate({commonName: 'mine'}, keys, validity),
      keyPem: privateKeyPem(keys.privateKey),
    }
  }

  beforeEach(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs')
  })
  afterEach(() => fixture.remove())

  it('is created, listed, rotates with the others, and reset removes it', async () => {
    await addAuthority(fixture.dir, {name: 'vpn-ca', signs: 'servers'}, options)
    const plane = await loadPlane(fixture.dir)
    const listed = await listAuthorities(plane, systemClock)
    const found = listed.find(({name}) => name === 'vpn-ca')
    assert.deepEqual([found?.added, found?.trustedFor], [{signs: 'servers'}, []])
    const unit = (await unitsOf(plane)).find(({id}) => id === 'vpn-ca')
    assert.equal(unit?.signsFrom, 'complete')
    const {files} = await planReset(plane)
    assert.ok(files.includes(pki('vpn-ca.key')) && files.includes(pki('vpn-ca.crt')))
  })

  it('is copied with its key or without, and nothing is overwritten', async () => {
    const [mine, other] = [await bring(), await bring()]
    await addAuthority(fixture.dir, {name: 'a-ca', signs: 'clients'}, {...options, brought: mine})
    assert.equal(await read('a-ca.key'), mine.keyPem)
    const {certificatePem} = other
    const brought = {certificatePem}
    await addAuthority(fixture.dir, {name: 'b-ca', signs: 'clients'}, {...options, brought})
    await assert.rejects(access(pki('b-ca.key')))
    // As after a run that was killed before it wrote the configuration.
    const {plane} = fixture.context
    await savePlane(plane)
    const taken = addAuthority(
      fixture.dir,
      {name: 'a-ca', signs: 'clients'},
      {...options, brought: other},
    )
    await assert.rejects(taken, {code: 'ALREADY_EXISTS'})
    assert.equal(await read('a-ca.key'), mine.keyPem)
    await addAuthority(fixture.dir, {name: 'a-ca', signs: 'clients'}, {...options, brought: mine})
    assert.equal((await loadPlane(fixture.dir)).settings.authorities.length, 1)
  })

  it('is no CA that the control plane has, with its key or without', async () => {
    const {plane} = fixture.context
    await savePlane(plane)
    await addAuthority(fixture.dir, {name: 'a-ca', signs: 'clients'}, options)
    for (const name of ['ca', 'front-proxy-ca', 'a-ca']) {
      const certificatePem = await read(`${name}.crt`)
      for (const more of [{}, {keyPem: await read(`${name}.key`)}]) {
        const brought = {certificatePem, ...more}
        await assert.rejects(
          addAuthority(fixture.dir, {name: 'b-ca', signs: 'clients'}, {...options, brought}),
          {code: 'ALREADY_EXISTS', message: `this is the CA "${name}" already`},
        )
      }
    }
    await assert.rejects(access(pki('b-ca.crt')))
  })

  it('is refused twice', async () => {
    await addAuthority(fixture.dir, {name: 'a-ca', signs: 'clients'}, options)
    await assert.rejects(addAuthority(fixture.dir, {name: 'a-ca', signs: 'clients'}, options), {
      code: 'ALREADY_EXISTS',
    })
  })

  it('is removed with its files; others are not', async () => {
    await addAuthority(fixture.dir, {name: 'a-ca', signs: 'clients'}, options)
    const removed = await removeAuthority(fixture.dir, 'a-ca', tell)
    assert.deepEqual(removed, [pki('a-ca.key'), pki('a-ca.crt')])
    assert.deepEqual((await loadPlane(fixture.dir)).settings.authorities, [])
    for (const name of ['a-ca', 'client-ca', 'ca']) {
      await assert.rejects(removeAuthority(fixture.dir, name, tell), {
        code: 'NOT_FOUND',
        suggestions: ['only CAs that were added with "ca add" can be removed, and there are none'],
      })
    }
  })

  it('stays while it rotates or a signer uses it', async () => {
    await addAuthority(fixture.dir, {name: 'a-ca', signs: 'clients'}, options)
    const plane = await loadPlane(fixture.dir)
    const signer = {name: 'example.com/a', certificate: 'pki/a-ca.crt', key: 'pki/a-ca.key'}
    const rules = {usages: ['client auth'], organizations: [], names: [], trustedFor: []}
    const signers = [{...signer, ...rules, maxValidityPeriod: 3_600_000}]
    await savePlane({...plane, settings: {...plane.settings, signers}})
    const message = /signer example.com\/a/
    await assert.rejects(removeAuthority(fixture.dir, 'a-ca', tell), {code: 'CONFLICT', message})
    await savePlane(plane)
    await writeJournal(plane, await newJournal(plane, undefined, {}, systemClock.now()))
    await assert.rejects(removeAuthority(fixture.dir, 'a-ca', tell), {code: 'CONFLICT'})
    await access(pki('a-ca.key'))
  })

  it('cannot leave the configuration while it rotates', async () => {
    await addAuthority(fixture.dir, {name: 'a-ca', signs: 'clients'}, options)
    assert.equal(unitFor(await loadPlane(fixture.dir), {id: 'a-ca'}).id, 'a-ca')
    assert.throws(() => unitFor(fixture.context.plane, {id: 'a-ca'}), {code: 'CONFIG_INVALID'})
  })
})
