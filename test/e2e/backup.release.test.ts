import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {randomUUID} from 'node:crypto'
import {mkdir, mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {backUp} from '../../src/control-plane/backup/backup.ts'
import {readBackup} from '../../src/control-plane/backup/read-backup.ts'
import {restore} from '../../src/control-plane/backup/restore.ts'
import {resolvePlane} from '../../src/control-plane/config/resolve.ts'
import {findPlane, savePlane} from '../../src/control-plane/config/stored.ts'
import type {StoreKind} from '../../src/control-plane/backup/staging.ts'
import {hasCode, type TrustError} from '../../src/errors.ts'
import {systemClock} from '../../src/runtime.ts'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import {contentOf, MovingPlane} from '../control-plane/backup/moving-plane.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../helpers/etcd.ts'

const SCRIPT = fileURLToPath(new URL('crashing-backup.ts', import.meta.url))
const OPTIONS = {clock: systemClock, force: true}

interface Run {
  /** Absent if it was killed. */
  steps?: number
  stderr: string
}

const run = (...args: string[]): Promise<Run> =>
  new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', SCRIPT, ...args], (error, stdout, stderr) => {
      resolve(error === null ? {steps: Number(stdout), stderr} : {stderr})
    })
  })

/** Every step is tried, by as many processes at a time as the machine has room for. */
async function eachStep(count: number, work: (step: number) => Promise<void>): Promise<void> {
  let next = 1
  const lane = async () => {
    while (next <= count) await work(next++)
  }
  await Promise.all([lane(), lane()])
}

describe('a backup or a restore that is killed', function () {
  this.timeout(600_000)
  let folder = ''
  let file = ''

  /** A control plane with a few objects, one of which tells the folders apart. */
  async function plane(name: string): Promise<string> {
    const dir = join(folder, name)
    const flags = {bindAddress: '127.0.0.1', bindPort: 1, nodeName: name}
    await savePlane(await resolvePlane({dir, flags}))
    await mkdir(join(dir, 'pki'))
    for (const one of ['ca.crt', 'ca.key']) await writeFile(join(dir, 'pki', one), name)
    const storage = await openLmdbStorage(dir)
    await storage.create('/name', Buffer.from(name))
    await storage.close()
    return dir
  }

  /** Whose control plane is in a folder, which must be whole; undefined if there is none. */
  async function wholeIn(dir: string): Promise<string | undefined> {
    try {
      const found = await findPlane(dir)
      if (!found) return undefined
      const name = found.settings.nodeName
      for (const one of ['ca.crt', 'ca.key']) {
        assert.equal(await readFile(join(dir, 'pki', one), 'utf8'), name)
      }
      assert.equal(await storedIn(dir), name)
      return name
    } catch (error) {
      if (hasCode(error, 'CONFIG_INVALID')) return undefined
      throw error
    }
  }

  async function storedIn(dir: string): Promise<string> {
    const storage = await openLmdbStorage(dir)
    const entry = await storage.get('/name')
    await storage.close()
    return Buffer.from(entry?.value ?? []).toString()
  }

  /** No store is another one without a line that says so. */
  async function requireNoted(dir: string): Promise<void> {
    const log = await readFile(join(dir, 'logs', 'issuance.log'), 'utf8')
    assert.match(log, /restoring the objects from a backup of/)
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-killed-'))
    file = join(folder, 'good.backup')
    await backUp(await plane('saved'), file, OPTIONS)
  })
  after(() => rm(folder, {recursive: true}))

  it('leaves the old backup or the new one', async () => {
    const dir = await plane('written')
    const target = (step: number) => join(folder, `at-${step}`, 'one.backup')
    await mkdir(join(folder, 'at-0'))
    // The first one makes folders, too.
    await backUp(dir, target(0), OPTIONS)
    const {steps = 0, stderr} = await run('backup', target(0), dir)
    assert.ok(steps > 1, stderr)
    for (let step = 1; step <= steps; step++) {
      await mkdir(join(folder, `at-${step}`))
      await writeFile(target(step), await readFile(file))
      assert.equal((await run('backup', target(step), dir, String(step))).steps, undefined)
      await readBackup(target(step), undefined)
      // The next one removes what is left.
      await backUp(dir, target(step), OPTIONS)
      assert.deepEqual(await readdir(join(folder, `at-${step}`)), ['one.backup'])
    }
  })

  it('leaves no control plane or a whole one, and the next run completes it', async () => {
    const {steps = 0, stderr} = await run('restore', file, await plane('count'))
    assert.ok(steps > 20, stderr)
    const seen = new Set<string | undefined>()
    await eachStep(steps, async (step) => {
      const dir = await plane(`before-${step}`)
      assert.equal((await run('restore', file, dir, String(step))).steps, undefined)
      const found = await wholeIn(dir)
      seen.add(found?.replace(/-\d+$/, ''))
      await restore(file, dir, OPTIONS)
      assert.equal(await wholeIn(dir), 'saved', `step ${step}`)
      assert.equal((await readdir(dir)).includes('.restore'), false)
      // The old one is not lost, wherever the kill was.
      const kept = await readdir(join(dir, 'backups'), {recursive: true})
      assert.ok(
        kept.some((name) => name.endsWith('config.yaml')),
        `step ${step}`,
      )
    })
    assert.deepEqual(seen, new Set(['before', undefined, 'saved']))
  })

  it('of objects leaves the old ones or the new ones, or none until the next run', async () => {
    const objects = join(folder, 'objects.backup')
    await backUp(join(folder, 'saved'), objects, {...OPTIONS, objectsOnly: true})
    const {steps = 0, stderr} = await run('restore', objects, await plane('stores'))
    assert.ok(steps > 10, stderr)
    const seen = new Set<string>()
    await eachStep(steps, async (step) => {
      const dir = await plane(`store-${step}`)
      assert.equal((await run('restore', objects, dir, String(step))).steps, undefined)
      const isThere = (await findPlane(dir).catch(() => undefined)) !== undefined
      const found = isThere ? (await storedIn(dir)).replace(/-\d+$/, '') : 'none'
      seen.add(found)
      if (found !== 'store') await requireNoted(dir)
      await restore(objects, dir, OPTIONS)
      assert.equal(await storedIn(dir), 'saved', `step ${step}`)
      assert.equal((await findPlane(dir))?.settings.nodeName, `store-${step}`)
    })
    assert.deepEqual(seen, new Set(['store', 'none', 'saved']))
  })

  describeWithEtcd('on its way to another kind of store', () => {
    let cluster: EtcdCluster
    before(async () => {
      cluster = await startEtcd()
    })
    after(() => cluster.stop())

    async function killedAt(to: StoreKind, step: number): Promise<number> {
      const made = await MovingPlane.create(cluster.servers, `/test/${randomUUID()}`)
      try {
        if (to === 'embedded') await made.move('etcd')
        await made.save()
        const before = await made.served(contentOf)
        const revision = await made.served((storage) => storage.revision())
        const where = to === 'etcd' ? [made.servers[0] ?? '', made.prefix] : ['-']
        const {steps, stderr} = await run('restore', made.file, made.dir, String(step), ...where)
        assert.equal(steps === undefined, step > 0, `step ${step}: ${stderr}`)
        // A server has all objects, or does not start.
        const content = await made.served(contentOf).catch((error: unknown) => {
          const {code, suggestions, stack} = error as TrustError
          assert.ok(code === 'CONFLICT' || code === 'CONFIG_INVALID', stack)
          assert.match(suggestions.join(), /"trustadm restore".*again/)
        })
        if (content) assert.deepEqual(content, before, `step ${step}`)
        if (steps === undefined) await made.restore(to)
        assert.deepEqual(await made.served(contentOf), before, `step ${step}`)
        assert.equal((await made.plane()).settings.etcdServers !== undefined, to === 'etcd')
        assert.ok((await made.served((storage) => storage.revision())) > revision)
        return steps ?? 0
      } finally {
        await made.remove()
      }
    }

    for (const to of ['etcd', 'embedded'] as const) {
      it(`${to} is completed by the next run, wherever it was`, async () => {
        const steps = await killedAt(to, 0)
        assert.ok(steps > 20, String(steps))
        // All of them, but for most of the writes of single keys.
        const isSingle = (step: number) => step > 15 && step < steps - 40 && step % 12 !== 0
        await eachStep(steps, async (step) => {
          if (!isSingle(step)) await killedAt(to, step)
        })
      })
    }
  })
})
