import assert from 'node:assert/strict'
import {contentOf, copyStore} from '../../src/storage/copy-store.ts'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import type {VersionedStorage} from '../../src/storage/versioned-storage.ts'
import {bytes, text} from './conformance-support.ts'

/** More than one page and than one batch of writes. */
const MANY = 1_100

describe('the copy of a store', () => {
  let source: VersionedStorage
  let target: VersionedStorage
  beforeEach(() => {
    source = openMemoryStorage()
    target = openMemoryStorage()
  })
  afterEach(async () => {
    await source.close()
    await target.close()
  })

  it('has every key and value, also over several pages', async () => {
    for (let index = 0; index < MANY; index++)
      await source.create(`/key-${index}`, bytes(`${index}`))
    await source.create('/ｆ', bytes(''))
    await source.create('/😀', bytes('after ｆ in bytes, before it in UTF-16'))
    await copyStore(source, target)
    assert.equal(await contentOf(target), await contentOf(source))
    assert.equal((await target.list('/')).entries.length, MANY + 2)
  })

  it('writes only what an earlier run has not, and takes away what is gone', async () => {
    for (const key of ['/a', '/b', '/d']) await source.create(key, bytes('1'))
    const same = await target.create('/a', bytes('1'))
    await target.create('/b', bytes('old'))
    await target.create('/c', bytes('gone'))
    await copyStore(source, target)
    const {entries} = await target.list('/')
    assert.deepEqual(
      entries.map(({key, value}) => [key, text(value)]),
      [
        ['/a', '1'],
        ['/b', '1'],
        ['/d', '1'],
      ],
    )
    assert.equal(entries[0]?.revision, same.revision)
    const before = await target.revision()
    await copyStore(source, target)
    assert.equal(await target.revision(), before)
  })

  it('fails as its writes do', async () => {
    await source.create('/a', bytes('1'))
    const failing = Object.create(target, {
      list: {value: target.list.bind(target)},
      create: {value: () => Promise.reject(new Error('no room'))},
    }) as VersionedStorage
    await assert.rejects(copyStore(source, failing), {message: 'no room'})
  })

  it('has the same content with every key and value, and no other', async () => {
    const isSame = async () => (await contentOf(source)) === (await contentOf(target))
    await source.create('/a', bytes('1'))
    assert.equal(await isSame(), false)
    const {revision} = await target.create('/a', bytes('2'))
    assert.equal(await isSame(), false)
    await target.update('/a', bytes('1'), revision)
    assert.equal(await isSame(), true)
    await target.create('/b', bytes('1'))
    assert.equal(await isSame(), false)
    const without = await contentOf(target, (key) => key === '/b')
    assert.equal(without, await contentOf(source))
  })
})
