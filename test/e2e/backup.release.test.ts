import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {mkdir, mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {backUpPlane} from '../../src/control-plane/backup/backup.ts'
import {readBackup} from '../../src/control-plane/backup/read-backup.ts'
import {restoreStore} from '../../src/control-plane/backup/restore-snapshot.ts'
import {restorePlane} from '../../src/control-plane/backup/restore.ts'
import {resolvePlane} from '../../src/control-plane/config/resolve.ts'
import {findPlane, savePlane} from '../../src/control-plane/config/stored.ts'
import {hasCode} from '../../src/errors.ts'
import {systemClock} from '../../src/runtime.ts'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'

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
  this.timeout(300_000)
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
    assert.match(log, /restoring the store from a snapshot of/)
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-killed-'))
    file = join(folder, 'good.backup')
    await backUpPlane(await plane('saved'), file, OPTIONS)
  })
  after(() => rm(folder, {recursive: true}))

  it('leaves the old backup or the new one', async () => {
    const dir = await plane('written')
    const target = (step: number) => join(folder, `at-${step}`, 'one.backup')
    await mkdir(join(folder, 'at-0'))
    // The first one makes folders, too.
    await backUpPlane(dir, target(0), OPTIONS)
    const {steps = 0, stderr} = await run('backup', target(0), dir)
    assert.ok(steps > 1, stderr)
    for (let step = 1; step <= steps; step++) {
      await mkdir(join(folder, `at-${step}`))
      await writeFile(target(step), await readFile(file))
      assert.equal((await run('backup', target(step), dir, String(step))).steps, undefined)
      await readBackup(target(step), undefined)
      // The next one removes what is left.
      await backUpPlane(dir, target(step), OPTIONS)
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
      await restorePlane(file, dir, OPTIONS)
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

  it('leaves the old store or the new one', async () => {
    const {steps = 0, stderr} = await run('restore-store', file, await plane('stores'))
    assert.ok(steps > 3, stderr)
    const seen = new Set<string>()
    await eachStep(steps, async (step) => {
      const dir = await plane(`store-${step}`)
      await run('restore-store', file, dir, String(step))
      const found = (await storedIn(dir)).replace(/-\d+$/, '')
      seen.add(found)
      if (found === 'saved') await requireNoted(dir)
      await restoreStore(file, dir, OPTIONS)
      assert.equal(await storedIn(dir), 'saved')
    })
    assert.deepEqual(seen, new Set(['store', 'saved']))
  })
})
