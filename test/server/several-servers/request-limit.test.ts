import assert from 'node:assert/strict'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {bundleOf} from '../../helpers/test-trust.ts'
import {SharedStore, type SharedStorage} from '../../storage/shared-storage.ts'
import {CSRS, csrObject, ed25519Request, encoded} from '../certificates/support.ts'
import {Api} from '../support.ts'

const LIMIT = 4
const REQUESTER = 'system:bootstrap:abcdef'

describe('a server that has lost events while a certificate request was stored', () => {
  const request = encoded(ed25519Request())
  let storage: SharedStorage
  let servers: TestServer[]
  let one: Api
  let two: Api

  beforeEach(async () => {
    const store = new SharedStore()
    const limits = {certificateRequestsPerHour: LIMIT}
    const first = await startTestServer({storage: store.open(), controllers: false, limits})
    storage = store.open()
    const trust = {bundles: {client: bundleOf(first.ca)}}
    const second = await startTestServer({storage, controllers: false, limits, trust})
    servers = [first, second]
    one = new Api(first.handler)
    two = new Api(second.handler)
    const apiGroup = 'rbac.authorization.k8s.io'
    const bound = await one.post(`/apis/${apiGroup}/v1/clusterrolebindings`, {
      metadata: {name: 'requesters'},
      roleRef: {apiGroup, kind: 'ClusterRole', name: 'system:node-bootstrapper'},
      subjects: [{apiGroup, kind: 'User', name: REQUESTER}],
    })
    assert.equal(bound.status, 201)
    for (let count = 1; count < LIMIT; count++) assert.equal((await ask(one)).status, 201)
  })
  afterEach(async () => {
    storage.failure = undefined
    for (const server of servers) await server.stop()
  })

  const ask = (api: Api) => api.as(REQUESTER).post(CSRS, csrObject({request}))
  const stored = async () => (await one.get(CSRS)).body.items.length

  const takeLastPlace = async () => assert.equal((await ask(one)).status, 201)
  /** By default, the other server takes the last place right before the next write, and of neither this one hears anything. */
  function loseEventsAtWrite(after: () => void = () => undefined, before = takeLastPlace): void {
    const create = storage.create.bind(storage)
    storage.create = async (key, value) => {
      storage.create = create
      storage.failure = new Error('no connection')
      storage.loseEvents()
      await before()
      const entry = await create(key, value)
      after()
      return entry
    }
  }

  const recover = () => {
    const ask = storage.revision.bind(storage)
    storage.revision = () => {
      storage.failure = undefined
      return ask()
    }
  }

  it('counts it once memory is read again, and refuses what exceeds the limit', async () => {
    loseEventsAtWrite(recover)
    assert.equal((await ask(two)).status, 429)
    assert.equal(await stored(), LIMIT)
  })

  it('does not count what was deleted before it', async () => {
    loseEventsAtWrite(recover, async () => {
      const {items} = (await one.get(CSRS)).body
      for (const {metadata} of items)
        assert.equal((await one.delete(`${CSRS}/${metadata.name}`)).status, 200)
      for (const _ of items) await takeLastPlace()
    })
    const {status, text} = await ask(two)
    assert.equal(status, 201, text)
    assert.equal(await stored(), LIMIT)
  })

  it('refuses it for now if memory cannot be read', async () => {
    loseEventsAtWrite()
    const {status, headers} = await ask(two)
    assert.deepEqual([status, headers['Retry-After']], [503, '1'])
    assert.equal(await stored(), LIMIT)
  })
})
