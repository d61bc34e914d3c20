import assert from 'node:assert/strict'
import fc from 'fast-check'
import type {ApiObject} from '../../src/api/meta.ts'
import {InformerStore, compareResourceVersions} from '../../src/client/informer-store.ts'
import {EncodedObject} from '../../src/client/encoded-object.ts'

function object(name: string, version: number): ApiObject {
  return {metadata: {name, namespace: 'ns', uid: name, resourceVersion: String(version)}}
}

const kept = (name: string, version: number) => new EncodedObject(object(name, version))

describe('InformerStore', () => {
  it('tells the difference between what it has and a new list', () => {
    const store = new InformerStore<ApiObject>()
    store.replace([kept('kept', 1), kept('changed', 2), kept('gone', 3)], '3')
    const changes = store.replace([kept('kept', 1), kept('changed', 4), kept('new', 5)], '5')
    assert.deepEqual(
      changes.map(({key, previous, current}) => [key, Boolean(previous), Boolean(current)]),
      [
        ['ns/gone', true, false],
        ['ns/changed', true, true],
        ['ns/new', false, true],
      ],
    )
  })

  it('takes a list of a server that was set back as the truth', () => {
    const store = new InformerStore<ApiObject>()
    store.replace([kept('a', 100)], '100')
    store.replace([kept('a', 50)], '60')
    assert.deepEqual(
      [store.get('ns/a')?.metadata.resourceVersion, store.resourceVersion],
      ['50', '60'],
    )
  })

  it('does not bring back what a newer event deleted', () => {
    const store = new InformerStore<ApiObject>()
    store.replace([kept('a', 1)], '1')
    store.take({type: 'DELETED', object: object('a', 5)})
    assert.equal(store.take({type: 'MODIFIED', object: object('a', 3)}), undefined)
    assert.equal(store.size, 0)
  })

  it('moves on with bookmarks', () => {
    const store = new InformerStore<ApiObject>()
    store.replace([], '1')
    const bookmark = {metadata: {resourceVersion: '1000'}}
    assert.equal(store.take({type: 'BOOKMARK', object: bookmark}), undefined)
    assert.deepEqual([store.resourceVersion, store.size], ['1000', 0])
  })

  it('ends like the server whatever events are repeated or come late', () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      gone: fc.boolean(),
      replay: fc.nat(5),
    })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const store = new InformerStore<ApiObject>()
        store.replace([], '1')
        const truth = new Map<string, ApiObject>()
        const sent: Parameters<typeof store.take>[0][] = []
        steps.forEach(({name, gone, replay}, index) => {
          const current = object(name, index + 2)
          if (gone) truth.delete(`ns/${name}`)
          else truth.set(`ns/${name}`, current)
          sent.push({type: gone ? 'DELETED' : 'MODIFIED', object: current})
          for (const event of [...sent.slice(-1), ...sent.slice(-replay)]) store.take(event)
        })
        assert.deepEqual(new Map(store.additions().map(({key, current}) => [key, current])), truth)
      }),
    )
  })
})

describe('compareResourceVersions', () => {
  it('orders as numbers do, of any size', () => {
    const digits = fc.bigInt({min: 0n, max: 2n ** 80n})
    fc.assert(
      fc.property(digits, digits, (one, other) => {
        const order = Math.sign(compareResourceVersions(String(one), String(other)))
        assert.equal(order, one < other ? -1 : Number(one > other))
      }),
    )
  })
})
