import assert from 'node:assert/strict'
import {SharedStore, type SharedStorage} from '../../storage/shared-storage.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api} from '../support.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
const KEYS = '/registry/core/configmaps/'
const bytes = (text: string) => new TextEncoder().encode(text)

interface Member {
  storage: SharedStorage
  server: TestServer
  api: Api
}

describe('servers that share a store', () => {
  let store: SharedStore
  let one: Member
  let two: Member

  async function start(): Promise<Member> {
    const storage = store.open()
    const server = await startTestServer({storage, controllers: false})
    return {storage, server, api: new Api(server.handler)}
  }

  beforeEach(async () => {
    store = new SharedStore()
    one = await start()
    two = await start()
  })
  afterEach(async () => {
    await one.server.stop()
    await two.server.stop()
  })

  const create = ({api}: Member, name: string, data = {}) =>
    api.post(PATH, {metadata: {name}, data})
  const namesOf = async ({api}: Member, query = '') =>
    (await api.get(`${PATH}?${query}`)).body.items.map(({metadata}) => metadata.name)

  /** Asks while the second server has not heard of what the first one did; it is told once the request waits. */
  async function askLate<T>(ask: () => Promise<T>): Promise<T> {
    let isAnswered = false
    const answer = ask().finally(() => (isAnswered = true))
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    assert.equal(isAnswered, false, 'answered from a memory that is behind')
    two.storage.release()
    return answer
  }

  describe('without a resourceVersion', () => {
    it('show in a get what another one has acknowledged', async () => {
      two.storage.hold()
      await create(one, 'a')
      const {status} = await askLate(() => two.api.get(`${PATH}/a`))
      assert.equal(status, 200)
    })

    it('show in a list and in a watch what another one has acknowledged', async () => {
      two.storage.hold()
      await create(one, 'a')
      const watching = two.api.watch(PATH)
      assert.deepEqual(await askLate(() => namesOf(two)), ['a'])
      const watch = await watching
      assert.deepEqual(await watch.summary(1), ['ADDED a'])
      await watch.stop()
    })

    it('do not wait for revisions of other programs', async () => {
      await create(one, 'a')
      await store.writeForeign()
      const revision = await store.writeForeign()
      const {status, body} = await two.api.get(PATH)
      assert.equal(status, 200)
      assert.equal(Number(body.metadata.resourceVersion), revision)
    })

    it('change and delete what another one has just created', async () => {
      two.storage.hold()
      await create(one, 'a')
      const changed = await askLate(() => two.api.patch(`${PATH}/a`, {data: {k: 'v'}}))
      assert.equal(changed.body.data.k, 'v')
      two.storage.hold()
      await create(one, 'b')
      assert.equal((await askLate(() => two.api.delete(`${PATH}/b`))).status, 200)
      assert.deepEqual(await namesOf(one), ['a'])
    })

    it('say that they are behind if the news does not come in time', async () => {
      two.storage.hold()
      await create(one, 'a')
      assert.equal((await two.api.get(`${PATH}?timeout=20ms`)).status, 504)
    })
  })

  it('may show an older state with resourceVersion=0, without waiting', async () => {
    two.storage.hold()
    await create(one, 'a')
    assert.deepEqual(await namesOf(two, 'resourceVersion=0'), [])
    assert.equal((await two.api.get(`${PATH}/a?resourceVersion=0`)).status, 404)
  })

  it('wait with a resourceVersion for that', async () => {
    two.storage.hold()
    const {body} = await create(one, 'a')
    const since = body.metadata.resourceVersion
    two.storage.release()
    assert.deepEqual(await namesOf(two, `resourceVersion=${since}`), ['a'])
  })

  it('lose no change to one another', async () => {
    await create(one, 'a')
    const answers = await Promise.all(
      Array.from({length: 20}, (_, index) =>
        [one, two][index % 2]!.api.patch(`${PATH}/a`, {data: {[`k${index}`]: 'v'}}),
      ),
    )
    assert.deepEqual(new Set(answers.map(({status}) => status)), new Set([200]))
    const {body} = await two.api.get(`${PATH}/a`)
    assert.equal(Object.keys(body.data as object).length, 20)
  })

  it('apply to what another one creates at the same time', async () => {
    const apply = ({api}: Member, key: string) =>
      api.patch(
        `${PATH}/a?fieldManager=${key}`,
        {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'a'}, data: {[key]: 'v'}},
        'apply',
      )
    const statuses = (await Promise.all([apply(one, 'x'), apply(two, 'y')])).map((it) => it.status)
    assert.deepEqual(statuses.sort(), [200, 201])
    assert.deepEqual((await one.api.get(`${PATH}/a`)).body.data, {x: 'v', y: 'v'})
  })

  it('show a watcher every change in one order, whoever wrote it', async () => {
    const watch = await two.api.watch(PATH)
    await create(one, 'a')
    await two.api.patch(`${PATH}/a`, {data: {k: 'v'}})
    await one.api.delete(`${PATH}/a`)
    assert.deepEqual(await watch.summary(3), ['ADDED a', 'MODIFIED a', 'DELETED a'])
    await watch.stop()
  })

  it('resume a watch from the history, also across revisions of other programs', async () => {
    const since = (await create(one, 'a')).body.metadata.resourceVersion
    await create(two, 'b')
    await store.writeForeign()
    const three = await start()
    const watch = await three.api.watch(`${PATH}?resourceVersion=${since}`)
    await create(one, 'c')
    assert.deepEqual(await watch.summary(2), ['ADDED b', 'ADDED c'])
    await watch.stop()
    await three.server.stop()
  })

  describe('with one range of service addresses', () => {
    const SERVICES = '/api/v1/namespaces/default/services'
    const service = ({api}: Member, name: string, clusterIP = '10.96.5.5') =>
      api.post(SERVICES, {metadata: {name}, spec: {clusterIP, ports: [{port: 80}]}})
    const statuses = async (asked: ReturnType<typeof service>[]) =>
      (await Promise.all(asked)).map(({status}) => status).sort()
    const holders = async () =>
      (await two.api.get(SERVICES)).body.items.filter(
        ({spec}) => (spec as {clusterIP?: string}).clusterIP === '10.96.5.5',
      )

    it('give an address once to those who ask one server at the same time', async () => {
      assert.deepEqual(await statuses([service(one, 'a'), service(one, 'b')]), [201, 422])
      assert.equal((await holders()).length, 1)
    })

    it('give an address once to those who ask two servers at the same time', async () => {
      const [first, second = 0] = await statuses([service(one, 'a'), service(two, 'b')])
      assert.equal(first, 201)
      // Found before the write, or after it.
      assert.ok([422, 503].includes(second), String(second))
      assert.equal((await holders()).length, 1)
    })

    it('never give one that another server has acknowledged', async () => {
      two.storage.hold()
      assert.equal((await service(one, 'a')).status, 201)
      assert.equal((await askLate(() => service(two, 'b'))).status, 422)
    })

    it('change a service to one that another server has acknowledged just as little', async () => {
      await two.api.post(SERVICES, {
        metadata: {name: 'b'},
        spec: {type: 'ExternalName', externalName: 'example.com'},
      })
      two.storage.hold()
      await service(one, 'a')
      const change = {spec: {type: 'ClusterIP', clusterIP: '10.96.5.5', ports: [{port: 80}]}}
      const type = 'application/merge-patch+json'
      const {status} = await askLate(() =>
        two.api.call('PATCH', `${SERVICES}/b`, {body: change, type}),
      )
      assert.equal(status, 422)
    })
  })

  describe('when events are lost', () => {
    it('tell watchers to list again, and have everything that happened', async () => {
      await create(one, 'changed')
      await create(one, 'deleted')
      assert.deepEqual(await namesOf(two), ['changed', 'deleted'])
      const watch = await two.api.watch(`${PATH}?resourceVersion=0`)
      await watch.first(2)
      two.storage.hold()
      await create(one, 'created')
      await one.api.patch(`${PATH}/changed`, {data: {k: 'v'}})
      await one.api.delete(`${PATH}/deleted`)
      two.storage.loseEvents()
      two.storage.release()

      await watch.ended
      const last = watch.events.at(-1)
      assert.deepEqual([last?.type, last?.object.code], ['ERROR', 410])
      const {body} = await two.api.get(PATH)
      assert.deepEqual(
        body.items.map(({metadata, data}) => [metadata.name, data as unknown]),
        [
          ['changed', {k: 'v'}],
          ['created', undefined],
        ],
      )
      const again = await two.api.watch(`${PATH}?resourceVersion=${body.metadata.resourceVersion}`)
      await create(one, 'later')
      assert.deepEqual(await again.summary(1), ['ADDED later'])
      await again.stop()
    })

    it('take rights away that were withdrawn meanwhile', async () => {
      const binding = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
      await one.api.post(binding, {
        metadata: {name: 'jane'},
        roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view'},
        subjects: [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane'}],
      })
      await two.api.get(binding)
      const jane = two.api.as('jane')
      assert.equal((await jane.get(PATH)).status, 200)
      two.storage.hold()
      await one.api.delete(`${binding}/jane`)
      two.storage.loseEvents()
      two.storage.release()
      await two.api.get(binding)
      assert.equal((await jane.get(PATH)).status, 403)
    })

    it('try again until the store can be read', async () => {
      two.storage.failure = new Error('no connection')
      two.storage.loseEvents()
      await create(one, 'a')
      const behind = await two.api.get(`${PATH}?timeout=20ms`)
      assert.equal(behind.status, 504)
      two.storage.failure = undefined
      assert.deepEqual(await namesOf(two), ['a'])
      assert.match(two.server.errors.join(), /^cannot read the store again: Error: no connection/)
    })
  })

  describe('beside keys of other programs', () => {
    it('serve none of them, and say which they are', async () => {
      const watch = await two.api.watch(PATH)
      const keys = ['default/text', 'default/json', 'no-namespace', 'too/many/parts'].map(
        (name) => KEYS + name,
      )
      for (const key of keys)
        await store.storage.create(key, bytes(key.endsWith('json') ? '{"kind":"x"}' : 'text'))
      await create(one, 'a')
      const three = await start()
      for (const member of [one, two, three]) assert.deepEqual(await namesOf(member), ['a'])
      assert.deepEqual(await watch.summary(1), ['ADDED a'])
      await watch.stop()
      for (const {server} of [two, three])
        for (const key of keys)
          assert.ok(
            server.errors.some((line) => line.includes(`${key} in the store cannot be read`)),
          )
      await three.server.stop()
    })

    it('show an object that one of them overwrites as deleted', async () => {
      await create(one, 'a')
      const watch = await two.api.watch(PATH)
      await watch.first(1)
      const key = `${KEYS}default/a`
      const entry = await store.storage.get(key)
      await store.storage.update(key, bytes('text'), entry!.revision)
      assert.deepEqual(await watch.summary(2), ['ADDED a', 'DELETED a'])
      await watch.stop()
      assert.equal((await two.api.get(`${PATH}/a`)).status, 404)
    })
  })
})
