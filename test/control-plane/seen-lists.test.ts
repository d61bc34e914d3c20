import assert from 'node:assert/strict'
import type {ConfigMap} from '../../src/api/core.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {readSeenLists, recordSeenList} from '../../src/control-plane/seen-lists.ts'

/** A cluster with one ConfigMap at most. */
function cluster() {
  let stored: ConfigMap | undefined
  const write = (object: ConfigMap) => Promise.resolve((stored = object))
  const configMaps = {find: () => Promise.resolve(stored), create: write, update: write}
  return {
    client: {configMaps} as unknown as ApiClient,
    change: (data: Record<string, string>) => (stored = {metadata: {}, data}),
  }
}

describe('the record of the servers that keep a list of their clients', () => {
  const fail = (error: unknown) => assert.fail(String(error))
  let now = new Date('2026-02-01T00:00:00Z')
  const clock = {now: () => now}

  it('has each server with the time when it ended, also after that', async () => {
    const {client} = cluster()
    const record = (name: string) =>
      recordSeenList(client, {name, host: `host-${name}`, clock, onError: fail})
    const stopOne = record('one')
    await stopOne()
    now = new Date('2026-02-01T01:00:00Z')
    await record('two')()
    assert.deepEqual(await readSeenLists(client), [
      {name: 'one', host: 'host-one', time: '2026-02-01T00:00:00.000Z'},
      {name: 'two', host: 'host-two', time: '2026-02-01T01:00:00.000Z'},
    ])
  })

  it('has a server whose entry cannot be read', async () => {
    const {client, change} = cluster()
    change({broken: '{', strange: '{"host": 1, "time": "soon"}'})
    const unknown = {host: 'an unknown host', time: ''}
    assert.deepEqual(await readSeenLists(client), [
      {name: 'broken', ...unknown},
      {name: 'strange', ...unknown},
    ])
  })

  it('does not stop a server that cannot write it', async () => {
    const errors: unknown[] = []
    const refused = () => Promise.reject(new Error('full'))
    const client = {configMaps: {find: refused}} as unknown as ApiClient
    const onError = (error: unknown) => errors.push(error)
    await recordSeenList(client, {name: 'one', host: 'one', clock, onError})()
    assert.equal(errors.length, 2)
  })
})
