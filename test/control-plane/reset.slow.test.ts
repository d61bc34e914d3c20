import assert from 'node:assert/strict'
import {
  link,
  mkdir,
  open,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import {join} from 'node:path'
import {startEmbedded} from '../../src/control-plane/embedded.ts'
import {
  createCross,
  createNew,
  keepAndCreateKeys,
  keepOld,
} from '../../src/control-plane/ca-rotation/generations.ts'
import {arrange} from '../../src/control-plane/ca-rotation/arrange.ts'
import {writeJournal} from '../../src/control-plane/ca-rotation/journal.ts'
import {newJournal} from '../../src/control-plane/ca-rotation/new-journal.ts'
import {unitFor} from '../../src/control-plane/ca-rotation/units.ts'
import {findPlane} from '../../src/control-plane/config/stored.ts'
import {renewCertificates} from '../../src/control-plane/renew.ts'
import {planReset, reset} from '../../src/control-plane/reset.ts'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {AUTHORITY_LIFETIME, authorityValidity} from '../../src/pki/lifetimes.ts'
import {systemClock} from '../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

describe('reset', () => {
  let fixture: PlaneFixture
  beforeEach(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
  })
  afterEach(() => fixture.remove())

  const start = () =>
    startEmbedded(fixture.context.plane, {clock: systemClock, log: () => undefined})

  it('removes all that was written, the folder too', async () => {
    await (await start()).close(0)
    const {kept} = await reset(fixture.context.plane)
    assert.deepEqual(kept, [])
    await assert.rejects(stat(fixture.dir), {code: 'ENOENT'})
  })

  it('removes what a killed restore has left, and overwrites the keys in it', async () => {
    const staged = join(fixture.dir, '.restore', 'pki')
    await mkdir(staged, {recursive: true, mode: 0o700})
    await writeFile(join(staged, 'ca.key'), 'a secret')
    await writeFile(join(staged, 'ca.crt'), 'a CA')
    const handle = await open(join(staged, 'ca.key'))
    try {
      const {kept, removed} = await reset(fixture.context.plane)
      assert.deepEqual(kept, [])
      assert.ok(removed.includes(join(fixture.dir, '.restore')))
      assert.equal(await handle.readFile('utf8'), '\0'.repeat(8))
    } finally {
      await handle.close()
    }
    await assert.rejects(stat(fixture.dir), {code: 'ENOENT'})
  })

  it('removes every file of the audit log, and no other log', async () => {
    const logs = join(fixture.dir, 'logs')
    await mkdir(logs, {mode: 0o700})
    const kinds = ['-anonymous', '-controllers', '-nodes', '-serviceaccounts', '-tokens']
    const ours = ['', ...kinds].flatMap((kind) => [
      `audit${kind}.log`,
      `audit${kind}-2026-01-01T00-00-00.000.log`,
    ])
    for (const name of [...ours, 'audit-of-mine.log']) await writeFile(join(logs, name), '')
    const {kept} = await reset(fixture.context.plane)
    assert.deepEqual(kept, [join(logs, 'audit-of-mine.log')])
  })

  describe('during a rotation of the CAs', () => {
    const rotation = () => join(fixture.dir, 'pki/rotation')
    beforeEach(async () => {
      const {plane} = fixture.context
      await writeJournal(plane, await newJournal(plane, undefined, {}, systemClock.now()))
      const unit = unitFor(plane, {id: 'front-proxy-ca'})
      await keepOld(plane, unit)
      await createNew(plane, unit, {now: systemClock.now()})
      await keepAndCreateKeys(plane)
      await createCross(plane, unit, systemClock.now())
    })

    it('overwrites and removes both generations, and removes the journal', async () => {
      const copy = `${fixture.dir}-copy`
      await link(join(rotation(), 'old/front-proxy-ca.key'), copy)
      try {
        const {kept, removed} = await reset(fixture.context.plane)
        assert.deepEqual(kept, [])
        assert.ok(removed.includes(join(rotation(), 'new/sa.key')))
        await assert.rejects(stat(fixture.dir), {code: 'ENOENT'})
        assert.match(await readFile(copy, 'latin1'), /^\0+$/)
      } finally {
        await rm(copy)
      }
    })

    it('keeps a CA that an operator provided, whichever file has its key', async () => {
      const {plane} = fixture.context
      const pki = (name: string) => join(fixture.dir, 'pki', name)
      const unit = unitFor(plane, {id: 'legacy-unknown-ca'})
      const keys = await generateKeys()
      const validity = authorityValidity(systemClock.now(), AUTHORITY_LIFETIME)
      const own = await createAuthorityCertificate({commonName: 'mine'}, keys, validity)
      await writeFile(pki('legacy-unknown-ca.crt'), own)
      const ownKey = privateKeyPem(keys.privateKey)
      await writeFile(pki('legacy-unknown-ca.key'), ownKey, {mode: 0o600})
      await keepOld(plane, unit)
      await createNew(plane, unit, {now: systemClock.now()})
      // Back and forth, as a start, an abort and a completion do.
      for (const [signs, trusts] of [
        ['old', ['old', 'new']],
        ['old', ['old']],
        ['new', ['old', 'new']],
      ] as const) {
        await arrange(plane, unit, {signs, trusts})
        const {kept} = await planReset(plane)
        const holding = signs === 'old' ? pki('legacy-unknown-ca.key') : ''
        assert.ok(signs === 'new' || kept.includes(holding), signs)
        assert.ok(kept.includes(join(rotation(), 'old/legacy-unknown-ca.key')))
      }
      const {kept} = await reset(plane)
      const left = ['old/legacy-unknown-ca.crt', 'old/legacy-unknown-ca.key']
      assert.deepEqual(
        kept.sort(),
        left.map((name) => join(rotation(), name)),
      )
      assert.equal(await readFile(kept[1] ?? '', 'utf8'), ownKey)
    })

    it('keeps files of others in the folder of the rotation', async () => {
      const foreign = join(rotation(), 'old/notes.txt')
      await writeFile(foreign, 'mine')
      assert.deepEqual((await reset(fixture.context.plane)).kept, [foreign])
    })

    it('does not follow the folder if it was replaced by a link', async () => {
      const elsewhere = join(fixture.dir, 'elsewhere')
      await rename(rotation(), elsewhere)
      await symlink(elsewhere, rotation())
      await assert.rejects(reset(fixture.context.plane), {code: 'FILE_UNSAFE'})
      assert.ok(await stat(join(elsewhere, 'new/sa.key')))
    })
  })

  it('keeps certificates and keys of others in a folder with the name of our archive', async () => {
    const archive = join(fixture.dir, 'pki', 'archive')
    await mkdir(archive, {mode: 0o700})
    for (const name of ['ca-2020.crt', 'ca-2020.key']) await writeFile(join(archive, name), 'mine')
    await reset(fixture.context.plane)
    assert.deepEqual((await readdir(archive)).sort(), ['ca-2020.crt', 'ca-2020.key'])
  })

  it('keeps files of others and says so', async () => {
    const foreign = join(fixture.dir, 'pki/notes.txt')
    await writeFile(foreign, 'mine')
    const {kept} = await reset(fixture.context.plane)
    assert.deepEqual(kept, [foreign])
    assert.equal(await readFile(foreign, 'utf8'), 'mine')
  })

  it('keeps a certificate that was put in the place of one that was made, and its key', async () => {
    const leaf = join(fixture.dir, 'pki/apiserver.crt')
    await writeFile(leaf, await readFile(join(fixture.dir, 'pki/ca.crt')))
    const files = [leaf, join(fixture.dir, 'pki/apiserver.key')]
    assert.deepEqual((await planReset(fixture.context.plane)).kept, files)
    const {kept} = await reset(fixture.context.plane)
    assert.deepEqual(kept.sort(), files)
  })

  it('removes a renewed certificate, which was noted too', async () => {
    await renewCertificates(fixture.context.plane, 'all', systemClock)
    const {kept} = await reset(fixture.context.plane)
    assert.deepEqual(kept, [])
  })

  it('goes on where it was stopped in the middle of a pair', async () => {
    await rm(join(fixture.dir, 'pki/apiserver.crt'))
    await rm(join(fixture.dir, 'pki/sa.pub'))
    assert.deepEqual((await reset(fixture.context.plane)).kept, [])
  })

  describe('of a control plane from before files were noted', () => {
    beforeEach(() => rm(join(fixture.dir, 'manifest.json')))

    it('removes the CAs that it had noted and what they signed, and keeps keys that may have been brought', async () => {
      const ids = ['ca', 'front-proxy-ca', 'kubelet-serving-ca', 'legacy-unknown-ca']
      const plane = {...fixture.context.plane, generatedAuthorities: ids}
      const {kept} = await reset(plane)
      assert.deepEqual(
        kept.sort(),
        ['sa.key', 'sa.pub'].map((name) => join(fixture.dir, 'pki', name)),
      )
    })

    it('keeps a CA that was brought, and certificates below it, which may have been too', async () => {
      const ids = ['front-proxy-ca', 'kubelet-serving-ca', 'legacy-unknown-ca']
      const plane = {...fixture.context.plane, generatedAuthorities: ids}
      await reset(plane)
      assert.deepEqual((await readdir(join(fixture.dir, 'pki'))).sort(), [
        ...['apiserver-kubelet-client.crt', 'apiserver-kubelet-client.key'],
        ...['apiserver.crt', 'apiserver.key', 'ca.crt', 'ca.key', 'sa.key', 'sa.pub'],
      ])
    })
  })

  it('refuses a list of files that it cannot read, and removes nothing', async () => {
    await writeFile(join(fixture.dir, 'manifest.json'), '{"files": {"pki/ca.key": 7}}')
    await assert.rejects(reset(fixture.context.plane), {code: 'CONFIG_INVALID'})
    assert.ok(await stat(join(fixture.dir, 'pki/ca.key')))
  })

  it('refuses while a process uses the store and does not say who it is', async () => {
    const running = await start()
    try {
      await assert.rejects(reset(fixture.context.plane), {code: 'STORE_LOCKED'})
      assert.ok(await findPlane(fixture.dir))
    } finally {
      await running.close(0)
    }
  })

  it('does not follow a folder that was replaced by a link', async () => {
    const elsewhere = await planeFixture()
    try {
      await mkdir(join(elsewhere.dir, 'logs'))
      await writeFile(join(elsewhere.dir, 'logs/server.log'), 'theirs')
      await symlink(join(elsewhere.dir, 'logs'), join(fixture.dir, 'logs'))
      await assert.rejects(reset(fixture.context.plane), {code: 'FILE_UNSAFE'})
      assert.equal(await readFile(join(elsewhere.dir, 'logs/server.log'), 'utf8'), 'theirs')
    } finally {
      await elsewhere.remove()
    }
  })
})
