import assert from 'node:assert/strict'
import {Feed} from '../../src/storage/feed.ts'
import type {StorageEvent} from '../../src/storage/storage.ts'
import {Recorder, revisionsOf} from './conformance-support.ts'

describe('the feed of a store', () => {
  it('gives nothing to a subscriber for which the changes before could not be read', () => {
    const events: StorageEvent[] = [{type: 'delete', key: '/a', revision: 3}]
    let damage: Error | undefined = new Error('the record is damaged')
    const feed = new Feed({
      read: (_prefix, since) => {
        if (damage) throw damage
        return {events: since < 3 ? events : [], through: 3}
      },
    })
    const recorder = new Recorder()
    assert.throws(() => feed.subscribe('/', 2, recorder), damage)
    damage = undefined
    feed.subscribe('/', 2, recorder)
    feed.publish([{type: 'delete', key: '/b', revision: 4}])
    assert.deepEqual(revisionsOf(recorder.events), [3, 4])
  })
})
