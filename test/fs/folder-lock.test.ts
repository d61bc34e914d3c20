import assert from 'node:assert/strict'
import {once} from 'node:events'
import {mkdir} from 'node:fs/promises'
import {join} from 'node:path'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import {lockFolder, lockHolder} from '../../src/fs/folder-lock.ts'
import {startWriter} from '../storage/start-writer.ts'
import {temporaryFolder} from '../storage/temporary-folder.ts'

describe('the lock of a store', () => {
  let folder: string
  let remove: () => Promise<void>

  beforeEach(async () => {
    ;({folder, remove} = await temporaryFolder())
  })
  afterEach(() => remove())

  it('keeps a second opening out and names the holder', async () => {
    const first = await openLmdbStorage(folder)
    await assert.rejects(openLmdbStorage(folder), {
      code: 'STORE_LOCKED',
      facts: {pid: process.pid},
    })
    await first.close()
    await (await openLmdbStorage(folder)).close()
  })

  it('tells who holds it, and takes nothing', async () => {
    assert.equal(await lockHolder(join(folder, 'nowhere')), undefined)
    assert.equal(await lockHolder(folder), undefined)
    const release = await lockFolder(folder)
    assert.deepEqual(await lockHolder(folder), {pid: process.pid})
    await release()
    assert.equal(await lockHolder(folder), undefined)
  })

  it('tells what its holder has to say, in a folder with a very long path, too', async () => {
    const deep = join(folder, 'd'.repeat(120), 'e'.repeat(120))
    await mkdir(deep, {recursive: true})
    let said: () => string | undefined = () => '{"one":\n"two"}'
    const release = await lockFolder(deep, () => said())
    const {pid} = process
    assert.deepEqual(await lockHolder(deep), {pid, answer: '{"one":\n"two"}'})
    await assert.rejects(lockFolder(deep), {code: 'STORE_LOCKED', facts: {pid}})
    said = () => assert.fail('it has nothing to say now')
    assert.deepEqual(await lockHolder(deep), {pid})
    said = () => 'x'.repeat(300 * 1024)
    assert.deepEqual(await lockHolder(deep), {})
    await release()
  })

  it('keeps other processes out, and falls with its process however that ends', async () => {
    const writer = startWriter(folder)
    await writer.acknowledged(1)
    await assert.rejects(openLmdbStorage(folder), {
      code: 'STORE_LOCKED',
      facts: {pid: writer.process.pid},
    })
    writer.process.kill('SIGSTOP')
    await assert.rejects(openLmdbStorage(folder), {code: 'STORE_LOCKED'})
    writer.process.kill('SIGKILL')
    await once(writer.process, 'exit')
    await (await openLmdbStorage(folder)).close()
  })

  it('is taken by exactly one of many who come at once, also over a dead one', async () => {
    for (let round = 0; round < 5; round++) {
      const results = await Promise.allSettled(Array.from({length: 12}, () => lockFolder(folder)))
      const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      assert.equal(won.length, 1)
      for (const unlock of won) await unlock()
    }
  })

  it('works in a folder with a very long path', async () => {
    const deep = join(folder, 'd'.repeat(120), 'e'.repeat(120))
    await mkdir(deep, {recursive: true})
    const unlock = await lockFolder(deep)
    await assert.rejects(lockFolder(deep), {code: 'STORE_LOCKED'})
    await unlock()
  })
})
