import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {hasCode} from '../../src/errors.ts'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import {bytes, text} from './conformance-support.ts'

const PAGE = 4_096
const FLIPS = 700

/** Enough keys for a tree with branches, values on overflow pages, and free pages. */
export async function fillStore(folder: string): Promise<void> {
  const storage = await openLmdbStorage(folder)
  for (let round = 0; round < 4; round++) {
    await Promise.all(
      Array.from({length: 60}, (_, index) =>
        storage.create(`/k/${round}/${index}`, bytes('v'.repeat(index * 90))),
      ),
    )
  }
  for (let index = 0; index < 40; index++) await storage.delete(`/k/0/${index}`, index + 2)
  await storage.compact((await storage.revision()) - 10)
  await storage.close()
}

/** Behind what is used the file has room in reserve, which holds nothing. */
export async function usedBytes(data: string): Promise<number> {
  const content = await readFile(data)
  return content.findLastIndex((byte) => byte !== 0) + 1
}

/** Fills a store, and flips one bit of its file after the other: every one of a list, or only every so many. */
export async function tryFlippedBits(folder: string, every: number): Promise<void> {
  const data = join(folder, 'store', 'data.mdb')
  await fillStore(folder)
  const good = (await readFile(data)).subarray(0, Math.ceil((await usedBytes(data)) / PAGE) * PAGE)
  const contentOf = async () => {
    const storage = await openLmdbStorage(folder)
    const {entries, revision} = await storage.list('')
    await storage.close()
    return {revision, entries: entries.map(({key, value}) => [key, text(value)])}
  }
  const expected = await contentOf()
  let refused = 0
  for (let flip = 0; flip < FLIPS; flip += every) {
    const broken = Buffer.from(good)
    // Half of them where the trees are: in the two meta pages and the headers of the others.
    const page = flip % 2 ? (flip >> 1) % (good.length / PAGE) : 0
    const at = flip % 2 ? page * PAGE + ((flip * 7) % 96) : (flip * 7_919) % good.length
    broken[at] = broken[at]! ^ (1 << (flip % 8))
    await writeFile(data, broken)
    try {
      assert.deepEqual(await contentOf(), expected)
    } catch (error) {
      assert.ok(hasCode(error, 'STORE_CORRUPT', 'STORE_FOREIGN'), `bit at ${at}: ${String(error)}`)
      assert.deepEqual(await readFile(data), broken)
      refused++
    }
  }
  assert.ok(refused > FLIPS / every / 7, `only ${refused} were noticed`)
}
