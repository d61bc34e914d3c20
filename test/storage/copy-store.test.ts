import assert from 'node:assert/strict'
import {compareStores, copyStore} from '../../src/storage/copy-store.ts'
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
    const content = await compareStores(source, target)
    assert.equal(content.keys, MANY + 2)
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

  it('is compared key by key and value by value', async () => {
    await source.create('/a', bytes('1'))
    await assert.rejects(compareStores(source, target), {
      code: 'CONFLICT',
      message: /the key "\/a" is not in the copy/,
    })
    const {revision} = await target.create('/a', bytes('2'))
    await assert.rejects(compareStores(source, target), /"\/a" has another value in the copy/)
    await target.update('/a', bytes('1'), revision)
    const {keys, bytes: size, sha256} = await compareStores(source, target)
    assert.deepEqual([keys, size, sha256.length], [1, 1, 64])
    await assert.rejects(
      compareStores(source, target, {revisions: true}),
      /"\/a" has another revision in the copy/,
    )
    await target.create('/b', bytes('1'))
    await assert.rejects(compareStores(source, target), /"\/b" is only in the copy/)
  })
})
