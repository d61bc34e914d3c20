import assert from 'node:assert/strict'
import {readdir, readFile, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {readJournal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {readGeneration} from '../../../src/control-plane/last-rotation.ts'
import {trustSources} from '../../../src/control-plane/signing.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {readTrust} from '../../../src/trust/read-trust.ts'
import type {PlaneFixture} from '../plane-fixture.ts'
import {TwoMachines} from './two-machines.ts'

describe('a machine that follows the rotation of another one', () => {
  let machines: TwoMachines

  beforeEach(async () => {
    machines = await TwoMachines.create()
  })
  afterEach(() => machines.remove())

  const pki = (fixture: PlaneFixture, name: string) => readFile(join(fixture.dir, 'pki', name))
  /** What a server of that machine would believe and sign with. */
  const believed = async ({context}: PlaneFixture) => {
    const {authorities, tokenKeys} = await readTrust(await trustSources(context.plane), 1)
    return {
      authorities: Array.from(authorities, ([id, {bundle, issuer}]) => [
        id,
        bundle.map(({fingerprint}) => fingerprint),
        issuer !== undefined,
      ]),
      tokens: [tokenKeys.signing.id, ...tokenKeys.verification.map(({id}) => id)],
    }
  }
  const requireEqual = async (what: string) =>
    assert.deepEqual(await believed(machines.follower), await believed(machines.leader), what)
  const follow = async (step: string) => {
    assert.equal(await machines.follow(), true, step)
    await requireEqual(step)
  }
  const leafIssuer = async () =>
    parseCertificate((await pki(machines.follower, 'apiserver.crt')).toString()).issuer.commonName

  it('has the same CAs and keys after each step, and its own certificates below them', async () => {
    const {follower, leader} = machines
    const before = await pki(follower, 'apiserver.key')
    await machines.rotate('start', follow)
    assert.equal(await leafIssuer(), 'kubernetes')
    await machines.rotate('complete', follow)
    assert.match(await leafIssuer(), /^kubernetes@/)
    const own = await pki(follower, 'apiserver.key')
    assert.ok(!own.equals(before) && !own.equals(await pki(leader, 'apiserver.key')))
    assert.equal((await stat(join(follower.dir, 'pki', 'ca.key'))).mode & 0o077, 0)
    const left = await readdir(join(follower.dir, 'pki'))
    assert.ok(!left.includes('rotation') && left.includes('archive'))
  })

  it('goes back with it', async () => {
    const before = await pki(machines.follower, 'ca.key')
    await machines.rotate('start', follow)
    await machines.rotate('abort', follow)
    assert.deepEqual(await pki(machines.follower, 'ca.key'), before)
    assert.ok(!(await readdir(join(machines.follower.dir, 'pki'))).includes('client-ca.key'))
    assert.equal(await leafIssuer(), 'kubernetes')
  })

  it('catches up at once if it was off all the time, and never gets the old keys again', async () => {
    const nothing = () => Promise.resolve()
    await machines.rotate('start', nothing)
    await machines.rotate('complete', nothing)
    assert.equal(await machines.follow(), true)
    await requireEqual('at the end')
    assert.match(await leafIssuer(), /^kubernetes@/)
    assert.ok(!(await readdir(join(machines.follower.dir, 'pki'))).includes('rotation'))
    assert.equal((await readJournal(machines.follower.context.plane))?.phase, 'Completed')
  })

  it('catches up from the middle of a rotation whose end it has missed', async () => {
    const nothing = () => Promise.resolve()
    await machines.rotate('start', follow)
    await machines.rotate('complete', nothing)
    await machines.rotate('start', nothing)
    assert.equal(await machines.follow(), true)
    await requireEqual('at the end')
  })

  it('does nothing twice, and never goes back', async () => {
    await machines.rotate('start', follow)
    assert.equal(await machines.follow(), true)
    assert.equal(await machines.follow(), false)
    const {plane} = machines.follower.context
    const journal = {...(await readJournal(plane)), shared: 99}
    await writeFile(join(plane.dir, 'ca-rotation.json'), JSON.stringify(journal), {mode: 0o600})
    assert.equal(await machines.follow(), false)
    assert.equal(await readGeneration(plane), 99)
  })

  it('refuses to serve without the key of the control plane', async () => {
    await machines.rotate('start', () => Promise.resolve())
    const file = join(machines.follower.dir, 'pki', 'plane.key')
    await writeFile(file, `${'0'.repeat(64)}\n`)
    await assert.rejects(machines.follow(), {code: 'CERTS_UNUSABLE'})
  })
})
