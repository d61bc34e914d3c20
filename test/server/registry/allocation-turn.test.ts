import assert from 'node:assert/strict'
import {allocationTurn} from '../../../src/server/registry/allocation-turn.ts'
import {MemoryAge} from '../../../src/server/registry/memory-age.ts'
import {KeyedLock} from '../../../src/server/registry/resource-store.ts'
import type {WriteServices, WriteTarget} from '../../../src/server/registry/write.ts'

describe('the writers of objects that share a range', () => {
  it('wait for their turn, but only for a time', async () => {
    const registry = {
      revision: 1,
      age: new MemoryAge(),
      storage: {revision: () => Promise.resolve(1)},
    }
    const store = {resource: {allocates: true, plural: 'services'}, turns: new KeyedLock()}
    const parts = [{registry}, {store, context: {subresource: '', dryRun: false}}]
    const take = () => allocationTurn(...(parts as unknown as [WriteServices, WriteTarget]), 10)
    const endFirst = await take()
    await assert.rejects(take(), {code: 503})
    endFirst()
    const endThird = await take()
    endThird()
  })
})
