import assert from 'node:assert/strict'
import type {ApiObject} from '../../../src/api/meta.ts'
import {invalidValue} from '../../../src/server/kernel/field-error.ts'
import type {ObjectReader} from '../../../src/server/kernel/resource.ts'
import {allocationTurn, requireFirst} from '../../../src/server/registry/allocation-turn.ts'
import {KeyedLock} from '../../../src/server/registry/resource-store.ts'
import type {WriteServices, WriteTarget} from '../../../src/server/registry/write.ts'

const REVISION = 10

const objectAt = (name: string, revision: number): ApiObject => ({
  metadata: {name, uid: name, resourceVersion: String(revision)},
})

/** A server that has created `mine` at REVISION, beside another object; both have the same address. */
function afterCreate(other: {created: number; revision: number}, {reaches = true} = {}) {
  const deleted: string[] = []
  const objects: ObjectReader = {
    get: () => undefined,
    list: () => [objectAt('other', other.revision), objectAt('mine', REVISION)],
  }
  const registry = {
    revision: reaches ? 99 : 0,
    confirmCurrent: () => undefined,
    reached: {wait: () => Promise.resolve(reaches)},
    storage: {
      revision: () => Promise.resolve(1),
      get: () => Promise.resolve({created: other.created}),
      delete: (key: string) => Promise.resolve(void deleted.push(key)),
    },
  }
  const validate = (_: ApiObject, {objects: seen}: {objects: ObjectReader}) =>
    seen.list('services', '').map(() => invalidValue('spec.clusterIP', 'x', 'is allocated'))
  const resource = {allocates: true, plural: 'services', group: '', strategy: {validate}}
  const store = {resource, storageKey: (_: string, name: string) => name, turns: new KeyedLock()}
  const target = {store, context: {objects, namespace: '', subresource: '', dryRun: false}}
  const parts = [{registry}, target] as unknown as [WriteServices, WriteTarget]
  return {
    deleted,
    check: () => requireFirst(...parts, objectAt('mine', REVISION), REVISION),
    take: () => allocationTurn(...parts, 10),
  }
}

describe('a new object of a range that servers share', () => {
  it('goes if another one came before it, also if that was changed since', async () => {
    for (const revision of [9, 12]) {
      const {check, deleted} = afterCreate({created: 9, revision})
      await assert.rejects(check(), {code: 503})
      assert.deepEqual(deleted, ['mine'])
    }
  })

  it('stays if the other one came after it', async () => {
    const {check, deleted} = afterCreate({created: 11, revision: 12})
    await check()
    assert.deepEqual(deleted, [])
  })

  it('goes if that cannot be checked', async () => {
    const {check, deleted} = afterCreate({created: 9, revision: 9}, {reaches: false})
    await assert.rejects(check(), {code: 504})
    assert.deepEqual(deleted, ['mine'])
  })

  it('waits for its turn, but only for a time', async () => {
    const {take} = afterCreate({created: 9, revision: 9})
    const endFirst = await take()
    await assert.rejects(take(), {code: 503})
    endFirst()
    const endThird = await take()
    endThird()
  })
})
