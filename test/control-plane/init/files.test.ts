import assert from 'node:assert/strict'
import {createServer, type AddressInfo} from 'node:net'
import {mkdir, readFile, readdir, rm, stat, symlink, writeFile} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {readKubeconfig} from '../../../src/client/kubeconfig-files.ts'
import {readMadeFiles} from '../../../src/fs/made-files.ts'
import {initPhases} from '../../../src/control-plane/init/init.ts'
import {planPhases} from '../../../src/phases.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const FILES = ['preflight', 'certs', 'kubeconfig'] as const

/** Every file with its content and the time of its last change. */
async function snapshot(dir: string): Promise<Record<string, string>> {
  const entries = await readdir(dir, {recursive: true, withFileTypes: true})
  const files = entries.filter((entry) => entry.isFile()).map((e) => join(e.parentPath, e.name))
  const pairs = files.map(async (file) => [
    file,
    `${(await stat(file)).mtimeMs} ${await readFile(file, 'base64')}`,
  ])
  return Object.fromEntries(await Promise.all(pairs)) as Record<string, string>
}

describe('the phases that write files', () => {
  let fixture: PlaneFixture
  beforeEach(async () => {
    fixture = await planeFixture()
  })
  afterEach(() => fixture.remove())

  it('leave folders of 0700 and files of 0600, whatever the umask', async () => {
    const before = process.umask(0)
    try {
      await fixture.run(...FILES)
    } finally {
      process.umask(before)
    }
    const entries = await readdir(fixture.dir, {recursive: true, withFileTypes: true})
    // What is in it holds nothing, and the folder itself lets nobody in.
    for (const entry of entries.filter(({parentPath}) => basename(parentPath) !== 'lock')) {
      const {mode} = await stat(join(entry.parentPath, entry.name))
      assert.equal(mode & 0o777, entry.isDirectory() ? 0o700 : 0o600, entry.name)
    }
  })

  it('change nothing when they are run again', async () => {
    await fixture.run(...FILES)
    const first = await snapshot(fixture.dir)
    await (await planeFixture({}, fixture.dir)).run(...FILES)
    assert.deepEqual(await snapshot(fixture.dir), first)
  })

  it('complete what is missing and keep the rest', async () => {
    await fixture.run(...FILES)
    const first = await snapshot(fixture.dir)
    await rm(join(fixture.dir, 'pki/apiserver.crt'))
    await rm(join(fixture.dir, 'scheduler.conf'))
    await (await planeFixture({}, fixture.dir)).run(...FILES)
    const second = await snapshot(fixture.dir)
    const changed = Object.keys(second).filter((file) => first[file] !== second[file])
    assert.deepEqual(changed.map((file) => file.slice(fixture.dir.length + 1)).sort(), [
      'manifest.json',
      'pki/apiserver.crt',
      'pki/apiserver.key',
      'scheduler.conf',
    ])
  })

  it('give the server a new certificate for more names, and touch nothing else of the PKI', async () => {
    await fixture.run(...FILES)
    const first = await snapshot(fixture.dir)
    await (await planeFixture({certSANs: ['more.example']}, fixture.dir)).run(...FILES)
    const second = await snapshot(fixture.dir)
    const changed = Object.keys(second).filter((file) => first[file] !== second[file])
    assert.deepEqual(changed.map((file) => file.slice(fixture.dir.length + 1)).sort(), [
      'config.yaml',
      'manifest.json',
      'pki/apiserver.crt',
      'pki/apiserver.key',
    ])
  })

  it('write kubeconfigs that point to the picked port, which is kept', async () => {
    await fixture.run(...FILES)
    const {bindPort} = fixture.context.plane.settings
    assert.ok(bindPort > 0)
    const config = await readKubeconfig(join(fixture.dir, 'admin.conf'))
    assert.equal(config.clusters[0]?.cluster.server, `https://127.0.0.1:${bindPort}`)
    assert.equal((await planeFixture({}, fixture.dir)).context.plane.settings.bindPort, bindPort)
  })

  it('note every certificate and key that was made here', async () => {
    await fixture.run(...FILES)
    const files = await readdir(fixture.dir, {recursive: true})
    const made = [...(await readMadeFiles(fixture)).keys()].sort()
    assert.deepEqual(made, files.filter((name) => /\.(crt|key|pub|conf)$/.test(name)).sort())
  })

  it("use an operator's CA and never write to it", async () => {
    const other = await planeFixture()
    try {
      await other.run('certs')
      await mkdir(join(fixture.dir, 'pki'), {mode: 0o700})
      for (const name of ['ca.crt', 'ca.key']) {
        const content = await readFile(join(other.dir, 'pki', name))
        await writeFile(join(fixture.dir, 'pki', name), content, {mode: 0o600})
      }
      await fixture.run(...FILES)
      assert.deepEqual(
        await readFile(join(fixture.dir, 'pki/ca.key')),
        await readFile(join(other.dir, 'pki/ca.key')),
      )
      const made = await readMadeFiles(fixture)
      assert.deepEqual(
        ['pki/ca.crt', 'pki/ca.key', 'pki/front-proxy-ca.crt'].map((name) => made.has(name)),
        [false, false, true],
      )
    } finally {
      await other.remove()
    }
  })

  it('say what cannot be signed where the key of the CA is elsewhere', async () => {
    const other = await planeFixture()
    try {
      await other.run('certs')
      await mkdir(join(fixture.dir, 'pki'), {mode: 0o700})
      const certificate = await readFile(join(other.dir, 'pki/ca.crt'))
      await writeFile(join(fixture.dir, 'pki/ca.crt'), certificate, {mode: 0o600})
      await assert.rejects(fixture.run(...FILES), {code: 'SIGNER_KEY_MISSING'})
    } finally {
      await other.remove()
    }
  })

  it('refuse a certificate folder that is a link', async () => {
    const other = await planeFixture()
    try {
      await symlink(other.dir, join(fixture.dir, 'pki'))
      await assert.rejects(fixture.run(...FILES), {code: 'FILE_UNSAFE'})
      assert.deepEqual(await readdir(other.dir), [])
    } finally {
      await other.remove()
    }
  })

  it('write nothing for a dry run and say what they would make', async () => {
    const plans = await planPhases(initPhases(), fixture.context)
    assert.deepEqual(await readdir(fixture.dir), [])
    const changes = plans.map(({change}) => change).join('\n')
    assert.match(changes, /create the CA "ca"/)
    assert.match(changes, /create "admin.conf"/)
    assert.match(changes, /start the server/)
  })
})

describe('preflight', () => {
  it('refuses a port that is taken', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const {port} = taken.address() as AddressInfo
    const fixture = await planeFixture({bindPort: port})
    try {
      await assert.rejects(fixture.run('preflight'), {code: 'PORT_IN_USE'})
      assert.deepEqual(await readdir(fixture.dir), [])
    } finally {
      taken.close()
      await fixture.remove()
    }
  })

  it('refuses a clock from before this release', async () => {
    const fixture = await planeFixture()
    try {
      fixture.context.clock = {now: () => new Date('2020-01-01T00:00:00Z')}
      await assert.rejects(fixture.run('preflight'), {code: 'PREFLIGHT_FAILED', message: /clock/})
    } finally {
      await fixture.remove()
    }
  })

  it('refuses a CA that has expired', async () => {
    const fixture = await planeFixture()
    try {
      await fixture.run('certs')
      fixture.context.clock = {now: () => new Date('2099-01-01T00:00:00Z')}
      await assert.rejects(fixture.run('preflight'), {code: 'SIGNER_EXPIRED'})
    } finally {
      await fixture.remove()
    }
  })
})
