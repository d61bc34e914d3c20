import assert from 'node:assert/strict'
import {once} from 'node:events'
import {setTimeout as wait} from 'node:timers/promises'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import type {Storage} from '../../src/storage/storage.ts'
import {changesSince, text} from './conformance-support.ts'
import {startWriter} from './start-writer.ts'
import type {Acknowledged} from './start-writer.ts'
import {temporaryFolder} from './temporary-folder.ts'

const KILLS = 52

describe('an lmdb store whose process is killed', () => {
  it('has every acknowledged write, 52 times over', async function () {
    this.timeout(240_000)
    const {folder, remove} = await temporaryFolder()
    try {
      /** The last thing that was acknowledged of every key. */
      const last = new Map<string, Acknowledged>()
      let revision = 0
      let writes = 0
      for (let kill = 0; kill < KILLS; kill++) {
        const writer = startWriter(folder, kill)
        await writer.acknowledged(1)
        await wait(Math.random() * 120)
        writer.process.kill('SIGKILL')
        await once(writer.process, 'close')

        writes += writer.log.length
        for (const told of writer.log) {
          assert.ok(told.revision > revision, 'a revision was given twice')
          last.set(told.key, told)
        }
        revision = Math.max(revision, ...writer.log.map((told) => told.revision))
        const storage = await openLmdbStorage(folder)
        assert.ok((await storage.revision()) >= revision, 'the revision went back')
        await requireAcknowledged(storage, last)
        revision = await storage.revision()
        await storage.close()
      }
      assert.ok(writes > KILLS * 10, `only ${writes} writes were acknowledged`)
    } finally {
      await remove()
    }
  })
})

/** A later write of the same key may have been done without being acknowledged: then it is newer, never older. */
async function requireAcknowledged(
  storage: Storage,
  last: Map<string, Acknowledged>,
): Promise<void> {
  const found = new Map((await storage.list('/w/')).entries.map((entry) => [entry.key, entry]))
  for (const {key, revision, content} of last.values()) {
    const entry = found.get(key)
    if (!content || !entry) {
      // Only a deletion, told or not, takes a key away; no key is ever created again.
      assert.equal(entry, undefined, `${key} came back`)
      if (content) assert.ok(await wasDeleted(storage, key, revision), `${key} is lost`)
      last.set(key, {key, revision})
      continue
    }
    assert.ok(entry.revision >= revision, `${key} is older than what was acknowledged`)
    if (entry.revision === revision) assert.equal(text(entry.value), content.repeat(60))
  }
}

async function wasDeleted(storage: Storage, key: string, revision: number): Promise<boolean> {
  const events = await changesSince(storage, key, revision)
  return events.some((event) => event.type === 'delete' && event.key === key)
}
