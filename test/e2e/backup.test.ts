import assert from 'node:assert/strict'
import {readFile, readdir, rm, stat, truncate, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import {describeEmbedded} from '../helpers/on-etcd.ts'
import {programFixture, removePlane, trustadm, type ProgramFixture} from '../helpers/program.ts'
import {until} from '../server/support.ts'

interface Saved {
  kind: string
  revision: number
  keys: number
  files: number
  sha256: string
  encrypted: boolean
}

interface Restored {
  keys: number
  backupRevision: number
  revision: number
  kept: string | null
}

describeEmbedded('backup and restore', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  let dir = ''
  let file = ''

  before(async () => {
    fixture = await programFixture()
    dir = fixture.dir
    file = join(fixture.folder, 'plane.backup')
    const {code, stderr} = await fixture.init()
    assert.equal(code, 0, stderr)
  })
  after(async () => {
    for (const name of ['other', 'third']) await removePlane(join(fixture.folder, name))
    await fixture.remove()
  })

  const json = async <T>(...args: string[]): Promise<T> => {
    const {code, stdout, stderr} = await trustadm(...args, '--output', 'json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as T
  }
  const refused = async (code: string, ...args: string[]) => {
    const {code: exit, stderr} = await trustadm(...args, '--output', 'json')
    assert.notEqual(exit, 0)
    const last = stderr.trim().split('\n').at(-1) ?? ''
    const {error} = JSON.parse(last) as {error: {code: string; message: string}}
    assert.equal(error.code, code, error.message)
    return error.message
  }
  const isThere = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    )

  /** Writes `w-0`, `w-1`, … one after the other until it is told to stop. */
  async function writer() {
    const client = await connect(join(dir, 'admin.conf'))
    let count = 0
    let isOver = false
    let newest = ''
    const writing = (async () => {
      for (; !isOver; count++) {
        const metadata = {namespace: 'default', name: `w-${count}`}
        const made = await client.configMaps.create({metadata})
        newest = made.metadata.resourceVersion ?? ''
      }
    })()
    await until(() => count > 20)
    return {
      async stop() {
        isOver = true
        await writing
        await client.close()
        return {count, newest}
      },
    }
  }

  async function writtenIn(folder: string): Promise<number[]> {
    const client = await connect(join(folder, 'admin.conf'))
    const {items} = await client.configMaps.list({namespace: 'default'})
    await client.close()
    return items
      .flatMap(({metadata}) => /^w-(\d+)$/.exec(metadata.name ?? '')?.[1] ?? [])
      .map(Number)
      .sort((one, other) => one - other)
  }

  it('save one moment of a control plane that is written to, and bring it back elsewhere', async () => {
    const writing = await writer()
    const saved = await json<Saved>('backup', file, '--dir', dir)
    const {count, newest} = await writing.stop()
    assert.deepEqual([saved.kind, saved.encrypted], ['everything', false])
    assert.equal((await stat(file)).mode & 0o777, 0o600)

    const other = join(fixture.folder, 'other')
    await json('stop', '--dir', dir)
    const restored = await json<Restored>('restore', file, '--dir', other)
    assert.deepEqual([restored.keys, restored.kept], [saved.keys, null])
    assert.equal(restored.backupRevision, saved.revision)
    assert.ok(restored.revision > Number(newest))
    assert.deepEqual(
      (await readdir(other)).filter((name) => name.startsWith('.')),
      [],
    )
    assert.deepEqual(
      await readFile(join(other, 'pki/ca.key')),
      await readFile(join(dir, 'pki/ca.key')),
    )

    await json('start', '--dir', other)
    const found = await writtenIn(other)
    assert.ok(found.length > 20 && found.length <= count, `${found.length} of ${count}`)
    // No gap: a write is there only with all that were acknowledged before it.
    assert.deepEqual(found, [...found.keys()])

    const client = await connect(join(other, 'admin.conf'))
    const path = `/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=${newest}`
    assert.match(await client.raw(path), /"code":410/)
    const made = await client.configMaps.create({metadata: {namespace: 'default', name: 'after'}})
    assert.ok(Number(made.metadata.resourceVersion) > Number(newest))
    await client.close()

    const log = await trustadm('certificate', 'log', '--dir', other)
    assert.match(log.stdout, /restored +the control plane was restored from a backup of/)
    assert.equal((await trustadm('certificate', 'log', '--verify', '--dir', other)).code, 0)
    assert.equal((await trustadm('status', '--dir', other)).code, 0)
    await json('stop', '--dir', other)
    await json('start', '--dir', dir)
  })

  it('restore refuses a folder in use, and with --force keeps what was there', async () => {
    await json('backup', file, '--dir', dir)
    assert.match(
      await refused('ALREADY_EXISTS', 'restore', file, '--dir', dir),
      /there are files in/,
    )
    await refused('CONFLICT', 'restore', file, '--dir', dir, '--force')
    const before = await readFile(join(dir, 'config.yaml'))
    await json('stop', '--dir', dir)
    const {kept} = await json<Restored>('restore', file, '--dir', dir, '--force')
    assert.ok(kept)
    assert.deepEqual(await readFile(join(kept, 'config.yaml')), before)
    assert.deepEqual(await readFile(join(dir, 'config.yaml')), before)
    assert.ok(await isThere(join(kept, 'store/data.mdb')))
    await json('start', '--dir', dir)
  })

  it('refuse a file that was cut off or altered anywhere, before anything is written', async () => {
    await json('backup', file, '--dir', dir)
    const whole = await readFile(file)
    const bad = join(fixture.folder, 'bad.backup')
    const third = join(fixture.folder, 'third')
    const middle = Math.floor(whole.length / 2)
    for (const at of [0, 20, 60, middle, whole.length - 40, whole.length - 1]) {
      const altered = Buffer.from(whole)
      altered.writeUInt8(altered.readUInt8(at) ^ 1, at)
      await writeFile(bad, altered)
      await refused('BACKUP_INVALID', 'restore', bad, '--dir', third)
    }
    await writeFile(bad, whole)
    for (const length of [whole.length - 1, middle, 10, 0]) {
      await truncate(bad, length)
      await refused('BACKUP_INVALID', 'restore', '--dry-run', bad)
      await refused('BACKUP_INVALID', 'restore', bad, '--dir', third)
    }
    assert.equal(await isThere(third), false)
  })

  it('encrypt with a passphrase, which is needed to read any of it', async () => {
    const passphrase = join(fixture.folder, 'passphrase')
    const wrong = join(fixture.folder, 'wrong')
    await writeFile(passphrase, 'correct horse battery\n', {mode: 0o600})
    await writeFile(wrong, 'wrong horse battery\n', {mode: 0o600})
    const sealed = join(fixture.folder, 'sealed.backup')
    const saved = await json<Saved>('backup', sealed, '--dir', dir, '--passphrase-file', passphrase)
    assert.equal(saved.encrypted, true)
    const bytes = await readFile(sealed)
    for (const word of ['PRIVATE KEY', 'kube-system', 'config.yaml']) {
      assert.equal(bytes.includes(word), false, word)
    }
    const status = ['restore', '--dry-run', sealed]
    await refused('USAGE', ...status)
    await refused('BACKUP_INVALID', ...status, '--passphrase-file', wrong)
    await truncate(sealed, bytes.length - 1)
    await refused('BACKUP_INVALID', ...status, '--passphrase-file', passphrase)
    await writeFile(sealed, bytes)
    const found = await json<Saved>(...status, '--passphrase-file', passphrase)
    assert.deepEqual([found.sha256, found.keys], [saved.sha256, saved.keys])
  })

  it('never replace a file that is no backup', async () => {
    const precious = join(fixture.folder, 'precious')
    await writeFile(precious, 'mine')
    await refused('ALREADY_EXISTS', 'backup', precious, '--dir', dir)
    assert.equal(await readFile(precious, 'utf8'), 'mine')
  })

  it('save and restore the objects alone, running or stopped', async () => {
    const objects = join(fixture.folder, 'objects.backup')
    const client = await connect(join(dir, 'admin.conf'))
    await client.configMaps.create({metadata: {namespace: 'default', name: 'before'}})
    const save = ['--objects-only', '--dir', dir]
    const saved = await json<Saved>('backup', objects, ...save)
    assert.deepEqual([saved.kind, saved.files], ['objects-only', 0])
    assert.equal((await readFile(objects)).includes('PRIVATE KEY'), false)
    await client.configMaps.create({metadata: {namespace: 'default', name: 'later'}})
    await refused('NOT_FOUND', 'restore', objects, '--dir', join(fixture.folder, 'third'))
    await json('stop', '--dir', dir)
    const stopped = await json<Saved>('backup', `${objects}.2`, ...save)
    assert.ok(stopped.revision > saved.revision)
    await refused('ALREADY_EXISTS', 'restore', objects, '--dir', dir)
    const {kept, revision} = await json<Restored>('restore', objects, '--dir', dir, '--force')
    assert.ok(kept && (await isThere(kept)))
    assert.ok(revision > stopped.revision)
    await json('start', '--dir', dir)
    assert.ok(await client.configMaps.find({namespace: 'default', name: 'before'}))
    assert.equal(await client.configMaps.find({namespace: 'default', name: 'later'}), undefined)
    await client.close()
    assert.equal((await trustadm('certificate', 'log', '--verify', '--dir', dir)).code, 0)
  })

  it('leave out of the objects the CAs that "init --upload-certs" has put there', async () => {
    const objects = join(fixture.folder, 'objects.backup')
    const counts = async (...more: string[]) =>
      (await json<Saved>('backup', objects, '--dir', dir, ...more)).keys
    const client = await connect(join(dir, 'admin.conf'))
    const metadata = {namespace: 'kube-system', name: 'kubeadm-certs'}
    await client.secrets.create({metadata, data: {'ca.key': 'YQ=='}})
    await client.close()
    await json('stop', '--dir', dir)
    assert.equal(await counts('--objects-only'), (await counts()) - 1)
    await rm(objects)
    await json('start', '--dir', dir)
  })
})
