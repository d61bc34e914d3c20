import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {
  chmod,
  link,
  mkdir,
  readFile,
  readdir,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {promisify} from 'node:util'
import {CredentialStore} from '../../src/node/credential-store.ts'
import {nodeRecord} from '../../src/node/node-files.ts'
import {issue, makeAuthority, type TestPair} from '../client/support/certificates.ts'
import {useFolder} from './support.ts'

const run = promisify(execFile)
const NOW = new Date('2026-11-16T05:04:03Z')
const LATER = new Date('2026-12-24T18:00:00Z')

describe('the store of a certificate and its key', () => {
  const folder = useFolder()
  const pki = () => join(folder(), 'pki')
  const store = () => new CredentialStore(pki())
  let one: TestPair
  let two: TestPair
  before(async () => {
    const authority = await makeAuthority()
    one = await issue(authority)
    two = await issue(authority)
  })
  const update = ({certificate, key}: TestPair, now = NOW) => store().update(certificate, key, now)
  const current = () => join(pki(), 'kubelet-client-current.pem')
  const inUse = async () => (await store().read())?.certificatePem

  it('holds nothing at first', async () => {
    assert.equal(await store().read(), undefined)
  })

  it('keeps the certificate, then the key, in one file that a relative link leads to', async () => {
    const file = await update(one)
    assert.equal(file, join(pki(), 'kubelet-client-2026-11-16-05-04-03.pem'))
    assert.equal(await readlink(current()), 'kubelet-client-2026-11-16-05-04-03.pem')
    assert.equal(await readFile(file, 'utf8'), one.certificate + one.key)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    assert.equal((await stat(pki())).mode & 0o777, 0o700)
  })

  it('leads to the newest one, and keeps the old file', async () => {
    await update(one)
    await update(two, LATER)
    assert.ok((await inUse())?.startsWith(two.certificate))
    assert.deepEqual(await readdir(pki()), [
      'kubelet-client-2026-11-16-05-04-03.pem',
      'kubelet-client-2026-12-24-18-00-00.pem',
      'kubelet-client-current.pem',
    ])
  })

  it('takes the next second where the name is taken, and writes into no file that is there', async () => {
    await update(one)
    const file = await update(two)
    assert.match(file, /05-04-04\.pem$/)
    const first = join(pki(), 'kubelet-client-2026-11-16-05-04-03.pem')
    assert.equal(await readFile(first, 'utf8'), one.certificate + one.key)
  })

  it('records nothing of a file that is there already under the name of a new one', async () => {
    const noted: string[] = []
    const note = (files: readonly {path: string}[]) => {
      noted.push(...files.map(({path}) => basename(path)))
      return Promise.resolve()
    }
    const record = {...nodeRecord(pki()), note}
    await update(one)
    await new CredentialStore(pki(), {record}).update(two.certificate, two.key, NOW)
    assert.deepEqual(noted, ['kubelet-client-2026-11-16-05-04-04.pem'])
  })

  it('reads a file with the key first too', async () => {
    await update(one)
    await writeFile(join(pki(), 'kubelet-client-x.pem'), two.key + two.certificate, {mode: 0o600})
    await rm(current())
    await symlink('kubelet-client-x.pem', current())
    assert.ok((await inUse())?.includes(two.certificate))
  })

  it('refuses a key that is not of the certificate, and keeps the old pair', async () => {
    await update(one)
    const mixed = {certificate: two.certificate, key: one.key}
    await assert.rejects(update(mixed, LATER), {code: 'PAIR_MISMATCH'})
    assert.ok((await inUse())?.startsWith(one.certificate))
    assert.equal((await readdir(pki())).length, 2)
  })

  it('refuses a plain file in the place of the link', async () => {
    await mkdir(pki(), {mode: 0o700})
    await writeFile(current(), 'not a link')
    await assert.rejects(update(one), {code: 'FILE_UNSAFE'})
    await assert.rejects(store().read(), {code: 'FILE_UNSAFE'})
    assert.equal(await readFile(current(), 'utf8'), 'not a link')
  })

  it('refuses a link that leads nowhere', async () => {
    await mkdir(pki(), {mode: 0o700})
    await symlink('kubelet-client-gone.pem', current())
    await assert.rejects(store().read(), {code: 'FILE_UNREADABLE', message: /does not exist/})
  })

  for (const target of ['../secret', '/etc/passwd', 'ca.crt', 'kubelet-client-current.pem']) {
    it(`refuses a link to ${target}, and leaves it alone`, async () => {
      await mkdir(pki(), {mode: 0o700})
      await writeFile(join(folder(), 'secret'), 'precious')
      await symlink(target, current())
      await assert.rejects(store().read(), {code: 'FILE_UNSAFE'})
      await assert.rejects(update(one), {code: 'FILE_UNSAFE'})
      assert.equal(await readFile(join(folder(), 'secret'), 'utf8'), 'precious')
    })
  }

  it('writes through no link that stands in the place of the new file', async () => {
    await mkdir(pki(), {mode: 0o700})
    await writeFile(join(folder(), 'secret'), 'precious')
    await symlink('../secret', join(pki(), 'kubelet-client-2026-11-16-05-04-03.pem'))
    await update(one)
    assert.equal(await readFile(join(folder(), 'secret'), 'utf8'), 'precious')
  })

  it('refuses a pair that has a second name elsewhere', async () => {
    const file = await update(one)
    await link(file, join(folder(), 'copy'))
    await assert.rejects(store().read(), {code: 'FILE_UNSAFE', message: /hard link/})
  })

  it('does not wait on a pipe', async () => {
    const file = await update(one)
    await rm(file)
    await run('mkfifo', [file])
    await assert.rejects(store().read(), {code: 'FILE_UNSAFE'})
  })

  it('locks others out of a pair that lets them in', async () => {
    const file = await update(one)
    await chmod(file, 0o644)
    await store().read()
    assert.equal((await stat(file)).mode & 0o777, 0o600)
  })

  it('refuses a folder that is a link', async () => {
    await mkdir(join(folder(), 'elsewhere'))
    await symlink('elsewhere', pki())
    await assert.rejects(update(one), {code: 'FILE_UNSAFE'})
    assert.deepEqual(await readdir(join(folder(), 'elsewhere')), [])
  })

  it('says so where the file holds no pair', async () => {
    const file = await update(one)
    await writeFile(file, 'garbage')
    await assert.rejects(store().read(), {code: 'PAIR_MISMATCH'})
  })

  it('has room, and leaves no litter from finding out', async () => {
    await update(one)
    const before = await readdir(pki())
    await store().requireRoom()
    assert.deepEqual(await readdir(pki()), before)
  })

  it('keeps the old pair, and no litter, when the disk is full', async function () {
    await mkdir(pki(), {mode: 0o700})
    await run('mount', ['-t', 'tmpfs', '-o', 'size=16k,mode=700', 'tmpfs', pki()]).catch(() => {
      process.stderr.write('      skipped: only root may mount a small file system\n')
      this.skip()
    })
    try {
      await update(one)
      const left = 'x'.repeat(16 * 1024)
      await writeFile(join(pki(), 'filler'), left).catch(() => undefined)
      const full = {code: 'FILE_UNWRITABLE', message: /disk is full/}
      await assert.rejects(store().requireRoom(), full)
      await assert.rejects(update(two, LATER), full)
      assert.ok((await inUse())?.startsWith(one.certificate))
      assert.deepEqual((await readdir(pki())).sort(), [
        'filler',
        'kubelet-client-2026-11-16-05-04-03.pem',
        'kubelet-client-current.pem',
      ])
    } finally {
      await run('umount', [pki()])
    }
  })
})
