import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {rename, rm, statfs, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {mock} from 'node:test'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import type {Storage} from '../../src/storage/storage.ts'
import {bytes, changesSince, Recorder, text} from './conformance-support.ts'
import {temporaryFolder} from './temporary-folder.ts'

/** A way to run out of room, and to get room again. */
interface Shortage {
  name: string
  needs: string
  start: (folder: string) => boolean
  relieve: (folder: string) => void
  end: (folder: string) => void
}

const run = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, {stdio: 'ignore'}).status === 0

const limitOwnFiles = (bytes: string) =>
  run('prlimit', '--pid', String(process.pid), `--fsize=${bytes}:`)

const shortages: Shortage[] = [
  {
    name: 'on a full disk',
    needs: 'the right to mount a tmpfs',
    start: (folder) => run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', folder),
    relieve: (folder) => run('mount', '-o', 'remount,size=32m', folder),
    end: (folder) => run('umount', folder),
  },
  {
    name: 'at the limit of a file',
    needs: 'prlimit',
    start: () => limitOwnFiles('1048576'),
    relieve: () => limitOwnFiles('unlimited'),
    end: () => limitOwnFiles('unlimited'),
  },
]

for (const {name, needs, start, relieve, end} of shortages) {
  describe(`an lmdb store ${name}`, () => {
    let folder: string
    let remove: () => Promise<void>

    beforeEach(async function () {
      ;({folder, remove} = await temporaryFolder())
      if (!start(folder)) {
        this.test!.title += `: skipped, it needs ${needs}`
        this.skip()
      }
    })

    afterEach(async () => {
      mock.restoreAll()
      end(folder)
      await remove()
    })

    /** Writes until it fails; answers how many writes were done. */
    async function fillUp(storage: Storage, size = 4_000): Promise<number> {
      for (let index = 0; index < 5_000; index++) {
        try {
          await storage.create(`/k/${index}`, bytes('v'.repeat(size)))
        } catch (error) {
          assert.equal((error as {code: string}).code, 'STORE_WRITE_FAILED')
          return index
        }
      }
      throw new Error('the disk never filled up')
    }

    it('refuses writes, shows nothing of them, and goes on when there is room', async () => {
      const storage = await openLmdbStorage(folder)
      const recorder = new Recorder()
      storage.subscribe('', 1, recorder)
      const done = await fillUp(storage)
      assert.equal(await storage.revision(), 1 + done)

      const failed = await Promise.allSettled([
        storage.create('/more/1', bytes('v'.repeat(9_000))),
        storage.create('/more/2', bytes('v'.repeat(9_000))),
        storage.create('/k/0', bytes('there already')),
      ])
      for (const result of failed) {
        assert.ok(result.status === 'rejected')
        assert.equal((result.reason as {code: string}).code, 'STORE_WRITE_FAILED')
      }
      assert.equal(await storage.revision(), 1 + done)
      assert.equal((await storage.list('/k/')).entries.length, done)
      assert.deepEqual((await storage.list('/more/')).entries, [])
      assert.equal(recorder.events.length, done)

      relieve(folder)
      const written = await storage.create('/more/1', bytes('now'))
      assert.equal(written.revision, 2 + done)
      assert.equal((await changesSince(storage, '/more/', 1))[0]?.revision, 2 + done)
      await storage.close()
    })

    it('is not called well because a smaller write finds room', async () => {
      const storage = await openLmdbStorage(folder)
      await fillUp(storage, 300_000)
      await storage.create('/small', bytes('v'))
      const real = performance.now.bind(performance)
      mock.method(performance, 'now', () => real() + 60_000)
      await assert.rejects(storage.check(), {code: 'STORE_WRITE_FAILED'})
      relieve(folder)
      mock.method(performance, 'now', () => real() + 120_000)
      await storage.check()
      await storage.close()
    })

    it('goes on being read while its file cannot even be opened', async () => {
      const storage = await openLmdbStorage(folder)
      const done = await fillUp(storage)
      const data = join(folder, 'store', 'data.mdb')
      await rename(data, `${data}.away`)
      for (let attempt = 0; attempt < 2; attempt++) {
        await assert.rejects(storage.create('/more', bytes('v')), {code: 'STORE_WRITE_FAILED'})
        assert.equal((await storage.list('/k/')).entries.length, done)
      }
      await rename(`${data}.away`, data)
      relieve(folder)
      assert.equal((await storage.create('/more', bytes('now'))).revision, 2 + done)
      await storage.close()
    })

    it('opens again with all that it had', async () => {
      const first = await openLmdbStorage(folder)
      const done = await fillUp(first)
      await first.close()
      const second = await openLmdbStorage(folder)
      const {entries, revision} = await second.list('/k/')
      assert.equal(revision, 1 + done)
      assert.equal(entries.length, done)
      assert.ok(entries.every(({value}) => text(value) === 'v'.repeat(4_000)))
      await second.close()
    })

    it('is not begun where there is too little room, and is where there is room again', async () => {
      if (name === 'on a full disk') {
        for (const pages of [0, 3, 4, 5, 8, 12]) {
          const free = (await statfs(folder)).bavail
          await writeFile(join(folder, 'filler'), Buffer.alloc((free - pages) * 4_096))
          await assert.rejects(openLmdbStorage(folder), {code: 'FILE_UNWRITABLE'})
          await rm(join(folder, 'filler'))
          await rm(join(folder, 'store'), {recursive: true})
        }
      } else {
        for (const limit of ['4096', '16384', '32768']) {
          limitOwnFiles(limit)
          await assert.rejects(openLmdbStorage(folder), {code: 'FILE_UNWRITABLE'})
        }
      }
      relieve(folder)
      await (await openLmdbStorage(folder)).close()
    })
  })
}
