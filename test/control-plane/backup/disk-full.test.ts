import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {randomBytes} from 'node:crypto'
import {mkdir, mkdtemp, readdir, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {backUp} from '../../../src/control-plane/backup/backup.ts'
import {restore} from '../../../src/control-plane/backup/restore.ts'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'
import {findPlane, savePlane} from '../../../src/control-plane/config/stored.ts'
import {TrustError} from '../../../src/errors.ts'
import {systemClock} from '../../../src/runtime.ts'
import {openLmdbStorage} from '../../../src/storage/lmdb.ts'

const OPTIONS = {clock: systemClock, force: false}
const run = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, {stdio: 'ignore'}).status === 0

describe('a full disk', () => {
  let folder = ''
  let dir = ''
  let full = ''

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-full-'))
    dir = join(folder, 'plane')
    await savePlane(await resolvePlane({dir, flags: {bindPort: 1}}))
    const storage = await openLmdbStorage(dir)
    for (let number = 0; number < 40; number++) {
      await storage.create(`/k/${number}`, randomBytes(50_000))
    }
    await storage.close()
  })
  beforeEach(async function () {
    full = join(folder, 'full')
    await mkdir(full, {recursive: true})
    const options = 'size=1m,mode=700'
    // There is no other way to run out of space that ends by itself.
    if (!run('mount', '-t', 'tmpfs', '-o', options, 'none', full)) this.skip()
  })
  afterEach(() => {
    run('umount', full)
  })
  after(() => rm(folder, {recursive: true}))

  const isFull = (error: TrustError) => {
    assert.match(error.message, /the disk is full$/)
    assert.equal(error.suggestions.length, 1)
    assert.match(error.suggestions[0] ?? '', /nothing was changed/)
    return true
  }

  it('is one sentence of backup, and leaves nothing', async () => {
    await assert.rejects(backUp(dir, join(full, 'one.backup'), OPTIONS), isFull)
    assert.deepEqual(await readdir(full), [])
  })

  it('is one sentence of restore, and leaves no control plane', async () => {
    const file = join(folder, 'one.backup')
    await backUp(dir, file, OPTIONS)
    await assert.rejects(restore(file, full, OPTIONS), isFull)
    assert.deepEqual(await readdir(full), ['lock'])
    assert.equal(await findPlane(full), undefined)
    // With room it works, in the same folder, which is a mount point.
    assert.ok(run('mount', '-o', 'remount,size=64m', full))
    const {keys} = await restore(file, full, OPTIONS)
    assert.equal(keys, 40)
    assert.ok(await findPlane(full))
  })
})
