import assert from 'node:assert/strict'
import {setImmediate as nextTurn} from 'node:timers/promises'
import type {WatchEvent} from '../../../src/api/meta.ts'
import {openMemoryStorage} from '../../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api, type AnyBody} from '../support.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
const revisionOf = ({object}: WatchEvent<AnyBody>) => Number(object.metadata.resourceVersion)

describe('watch', () => {
  const storage = openMemoryStorage()
  let server: TestServer
  let api: Api

  const create = (name: string, labels = {}) => api.post(PATH, {metadata: {name, labels}})

  before(async () => {
    server = await startTestServer({storage, controllers: false})
    api = new Api(server.handler)
  })
  after(() => server.stop())
  beforeEach(() => api.delete(PATH))

  it('sends the changes after a revision, in order, as they were answered to their writers', async () => {
    const since = await storage.revision()
    const created = (await create('a')).body
    const changed = (await api.patch(`${PATH}/a`, {data: {k: 'v'}})).body
    const watch = await api.watch(`${PATH}?resourceVersion=${since}`)
    await api.delete(`${PATH}/a`)
    const [added, modified, deleted] = await watch.first(3)
    assert.deepEqual(added, {type: 'ADDED', object: created})
    assert.deepEqual(modified, {type: 'MODIFIED', object: changed})
    const resourceVersion = String(await storage.revision())
    const last = {...changed, metadata: {...changed.metadata, resourceVersion}}
    assert.deepEqual(deleted, {type: 'DELETED', object: last})
    await watch.stop()
  })

  for (const query of ['', 'resourceVersion=0']) {
    it(`begins with what is there, given ${query === '' ? 'no resourceVersion' : query}`, async () => {
      await create('b')
      await create('a')
      const watch = await api.watch(`${PATH}?${query}`)
      await watch.first(2)
      await create('c')
      assert.deepEqual(await watch.summary(3), ['ADDED a', 'ADDED b', 'ADDED c'])
      assert.deepEqual(
        [watch.events[0]?.object.kind, watch.events[0]?.object.apiVersion],
        ['ConfigMap', 'v1'],
      )
      await watch.stop()
    })
  }

  const LIST = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'

  it('ends the initial state with a bookmark where sendInitialEvents asks for it', async () => {
    await create('a')
    const revision = String(await storage.revision())
    const watch = await api.watch(`${PATH}?${LIST}&allowWatchBookmarks=true`)
    const [, bookmark] = await watch.first(2)
    assert.deepEqual(bookmark, {
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: {
          resourceVersion: revision,
          annotations: {'k8s.io/initial-events-end': 'true'},
        },
      },
    })
    await create('b')
    assert.equal((await watch.summary(3))[2], 'ADDED b')
    await watch.stop()
  })

  it('ends the initial state only when it is not older than the caller has seen elsewhere', async () => {
    await create('a')
    const wanted = (await storage.revision()) + 2
    const watch = await api.watch(
      `${PATH}?${LIST}&allowWatchBookmarks=true&resourceVersion=${wanted}`,
    )
    assert.deepEqual(await watch.summary(1), ['ADDED a'])
    await create('b')
    // Another resource may bring the revision that the caller waits for.
    await api.post('/api/v1/namespaces/default/secrets', {metadata: {generateName: 's'}})
    assert.deepEqual(await watch.summary(3), ['ADDED a', 'ADDED b', 'BOOKMARK '])
    assert.ok(revisionOf(watch.events[2]!) >= wanted)
    await watch.stop()
  })

  it('sends no bookmark to who has not asked for any', async () => {
    const watch = await api.watch(`${PATH}?${LIST}`)
    await create('a')
    assert.deepEqual(await watch.summary(1), ['ADDED a'])
    await watch.stop()
  })

  it('begins with the next change where sendInitialEvents=false and no revision is named', async () => {
    await create('a')
    const watch = await api.watch(
      `${PATH}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan`,
    )
    await create('b')
    assert.deepEqual(await watch.summary(1), ['ADDED b'])
    await watch.stop()
  })

  it('waits without a word for a revision that is to come', async () => {
    const watch = await api.watch(`${PATH}?resourceVersion=${(await storage.revision()) + 1}`)
    await create('a')
    await create('b')
    assert.deepEqual(await watch.summary(1), ['ADDED b'])
    await watch.stop()
  })

  it('shows objects that come into a selection as added and those that leave it as deleted', async () => {
    const since = await storage.revision()
    const watch = await api.watch(`${PATH}?labelSelector=on=yes&resourceVersion=${since}`)
    await create('a', {on: 'no'})
    await api.patch(`${PATH}/a`, {metadata: {labels: {on: 'yes'}}, data: {k: 'matching'}})
    await api.patch(`${PATH}/a`, {data: {k: 'still matching'}})
    const left = await api.patch(`${PATH}/a`, {metadata: {labels: {on: 'no'}}, data: {k: 'left'}})
    await api.delete(`${PATH}/a`)
    await create('b', {on: 'yes'})
    assert.deepEqual(await watch.summary(4), ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED b'])
    const gone = watch.events[2]!.object
    assert.equal(gone.data.k, 'still matching')
    assert.equal(gone.metadata.resourceVersion, left.body.metadata.resourceVersion)
    await watch.stop()
  })

  it('follows one object by a field selector, and by the old path', async () => {
    const since = await storage.revision()
    const watches = await Promise.all([
      api.watch(`${PATH}?fieldSelector=metadata.name=a&resourceVersion=${since}`),
      api.watch(`/api/v1/watch/namespaces/default/configmaps/a?resourceVersion=${since}`),
    ])
    await create('b')
    await create('a')
    for (const watch of watches) {
      assert.deepEqual(await watch.summary(1), ['ADDED a'])
      await watch.stop()
    }
  })

  it('goes through all namespaces without one in the path', async () => {
    const watch = await api.watch(`/api/v1/configmaps?resourceVersion=${await storage.revision()}`)
    await create('a')
    await api.post('/api/v1/namespaces/kube-public/configmaps', {metadata: {name: 'b'}})
    assert.deepEqual(await watch.summary(2), ['ADDED a', 'ADDED b'])
    await watch.stop()
  })

  it('shows no event for a write that changes nothing', async () => {
    const {body} = await create('a')
    const watch = await api.watch(`${PATH}?resourceVersion=${body.metadata.resourceVersion}`)
    await api.put(`${PATH}/a`, body)
    await api.patch(`${PATH}/a`, {metadata: {labels: null}})
    await create('b')
    assert.deepEqual(await watch.summary(1), ['ADDED b'])
    await watch.stop()
  })

  it('ends cleanly after timeoutSeconds', async () => {
    const watch = await api.watch(
      `${PATH}?timeoutSeconds=1&resourceVersion=${await storage.revision()}`,
    )
    await watch.ended
    assert.deepEqual(watch.events, [])
  })

  it('says too old to a revision that is forgotten, in one event', async () => {
    await create('a')
    const [log] = [await storage.revision()]
    await api.patch(`${PATH}/a`, {data: {k: 'v'}})
    await storage.compact(await storage.revision())
    // Memory still holds its newest changes: only a server that began later has to ask the store.
    const second = await startTestServer({storage: readOnly(), controllers: false})
    const watch = await new Api(second.handler).watch(`${PATH}?resourceVersion=${log - 1}`)
    await watch.ended
    const {type, object} = watch.events[0]!
    assert.deepEqual(
      [watch.events.length, type, object.code, object.reason],
      [1, 'ERROR', 410, 'Expired'],
    )
    assert.match(object.message, new RegExp(`^too old resource version: ${log - 1} \\(\\d+\\)$`))
    await second.stop()
  })

  it('goes on from the store’s history after a restart, with no gap and no repeat', async () => {
    const since = await storage.revision()
    await create('a')
    await api.post('/api/v1/namespaces/default/secrets', {metadata: {generateName: 's'}})
    await api.patch(`${PATH}/a`, {data: {k: 'v'}})
    await api.delete(`${PATH}/a`)
    const second = await startTestServer({storage: readOnly(), controllers: false})
    const restarted = new Api(second.handler)
    const watch = await restarted.watch(`${PATH}?resourceVersion=${since}`)
    await create('b')
    assert.deepEqual(await watch.summary(4), ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED b'])
    const revisions = watch.events.map(revisionOf)
    assert.deepEqual(
      revisions,
      [...revisions].sort((one, other) => one - other),
    )
    assert.equal(new Set(revisions).size, 4)
    await watch.stop()
    await second.stop()
  })

  /** The same store, not closed with the second server. */
  function readOnly() {
    return new Proxy(storage, {
      get: (target, name) => {
        if (name === 'close') return () => Promise.resolve()
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  }

  it('shows every watcher every change once and in one order, while many write', async () => {
    const since = await storage.revision()
    const early = await api.watch(`${PATH}?resourceVersion=${since}`)
    const late: Promise<Awaited<ReturnType<Api['watch']>>>[] = []
    const writers = Array.from({length: 16}, async (_, writer) => {
      for (let round = 0; round < 20; round++) {
        const name = `w${writer}-${round % 3}`
        if ((await create(name)).status === 409)
          await api.patch(`${PATH}/${name}`, {data: {r: String(round)}})
        if (round % 5 === 4) await api.delete(`${PATH}/${name}`)
        if (round === 10) late.push(api.watch(`${PATH}?resourceVersion=${since}`))
      }
    })
    await Promise.all(writers)
    const total = 16 * 20 + 16 * 4
    const orders = [await early.first(total)]
    for (const watch of await Promise.all(late)) {
      orders.push(await watch.first(total))
      await watch.stop()
    }
    await early.stop()
    const [first = []] = orders
    const revisions = first.map(revisionOf)
    assert.deepEqual(
      revisions,
      [...new Set(revisions)].sort((one, other) => one - other),
    )
    for (const order of orders) assert.deepEqual(order, first)
  })

  it('adds up to the list: state and changes together are what is there at the end', async () => {
    const writing = Promise.all(
      Array.from({length: 8}, async (_, writer) => {
        for (let round = 0; round < 30; round++) {
          await create(`w${writer}`)
          await api.patch(`${PATH}/w${writer}`, {data: {r: String(round)}})
          if (round % 7 === 3) await api.delete(`${PATH}/w${writer}`)
        }
      }),
    )
    const watches = []
    for (let index = 0; index < 20; index++) {
      watches.push(await api.watch(`${PATH}?${LIST}&allowWatchBookmarks=true`))
      await nextTurn()
    }
    await writing
    await create('last')
    const {body} = await api.get(PATH)
    for (const watch of watches) {
      await watch.until(() => watch.events.some(({object}) => object.metadata.name === 'last'))
      const state = new Map<string, string>()
      for (const {type, object} of watch.events) {
        const {name, resourceVersion} = object.metadata
        if (type === 'DELETED') state.delete(name)
        else if (type !== 'BOOKMARK') state.set(name, resourceVersion)
      }
      assert.deepEqual(
        [...state].sort(),
        body.items.map(({metadata}) => [metadata.name, metadata.resourceVersion]),
      )
      await watch.stop()
    }
  })

  it('drops a watcher that does not keep up, and says so', async () => {
    const signal = new AbortController().signal
    const {body} = await server.handler({
      method: 'GET',
      path: PATH,
      query: new URLSearchParams(`watch=true&resourceVersion=${await storage.revision()}`),
      headers: {},
      rawHeaders: [],
      body: new Uint8Array(),
      remoteAddress: '',
      signal,
      caller: {username: 'admin', groups: ['system:masters']},
    })
    await create('a')
    const stream = (body as AsyncIterable<string>)[Symbol.asyncIterator]()
    await stream.next()
    // More than is remembered, past the handler: the events are the same.
    const {entries} = await storage.list('')
    const stored = entries.find(({key}) => key.endsWith('/a'))
    assert.ok(stored)
    let {revision} = stored
    for (let count = 0; count < 10_000; count++)
      ({revision} = await storage.update(stored.key, stored.value, revision))
    const step = await stream.next()
    const {type, object} = JSON.parse(String(step.value)) as WatchEvent<AnyBody>
    assert.deepEqual([type, object.code, object.reason], ['ERROR', 410, 'Expired'])
    assert.equal((await stream.next()).done, true)
  }).timeout(60_000)

  it('sends Tables with their columns in the first event only', async () => {
    await create('a')
    const watch = await api.watch(`${PATH}?${LIST}&allowWatchBookmarks=true`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    })
    await watch.first(2)
    await create('b')
    const [first, bookmark, second] = await watch.first(3)
    assert.equal(first?.object.kind, 'Table')
    assert.equal(first.object.rows[0].cells[0], 'a')
    assert.equal(first.object.columnDefinitions?.[0]?.name, 'Name')
    assert.equal(second?.object.rows[0].cells[0], 'b')
    assert.equal(second.object.columnDefinitions, null)
    assert.deepEqual(
      [bookmark?.type, bookmark?.object.rows[0].object.kind],
      ['BOOKMARK', 'PartialObjectMetadata'],
    )
    await watch.stop()
  })

  const refusals: [string, string, number, string][] = [
    [
      'sendInitialEvents without resourceVersionMatch',
      'sendInitialEvents=true',
      422,
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ],
    [
      'resourceVersionMatch without sendInitialEvents',
      'resourceVersionMatch=NotOlderThan&resourceVersion=1',
      422,
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    ],
    ['a selector that does not parse', 'labelSelector=a%20b', 400, 'unable to parse'],
    ['a timeoutSeconds that is no number', 'timeoutSeconds=x', 400, 'strconv.ParseInt'],
  ]
  for (const [name, query, status, message] of refusals) {
    it(`refuses ${name} before it answers`, async () => {
      const answer = await api.get(`${PATH}?watch=true&${query}`)
      assert.equal(answer.status, status)
      assert.ok(answer.body.message.includes(message), answer.body.message)
    })
  }

  it('refuses every other method on the old watch paths', async () => {
    const {status} = await api.post('/api/v1/watch/namespaces/default/configmaps', {})
    assert.equal(status, 405)
  })
})
