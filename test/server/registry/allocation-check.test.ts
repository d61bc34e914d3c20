import assert from 'node:assert/strict'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {SharedStore, type SharedStorage} from '../../storage/shared-storage.ts'
import {Api, type AnyBody} from '../support.ts'

const PATH = '/api/v1/namespaces/default/services'
const WANTED = 30_005
const ADDRESS = '10.96.5.5'

interface Member {
  storage: SharedStorage
  server: TestServer
  api: Api
}

describe('two servers that give the same address or port at the same time', () => {
  let one: Member
  let two: Member

  beforeEach(async () => {
    const store = new SharedStore()
    const start = async (): Promise<Member> => {
      const storage = store.open()
      const server = await startTestServer({storage, controllers: false})
      return {storage, server, api: new Api(server.handler)}
    }
    one = await start()
    two = await start()
  })
  afterEach(async () => {
    await one.server.stop()
    await two.server.stop()
  })

  /** Something else happens before each of the next writes of the second server, which it has already checked. */
  function beforeWrites(
    method: 'create' | 'delete' | 'update',
    ...happenings: (() => Promise<void>)[]
  ): void {
    const {storage} = two
    const write = storage[method].bind(storage) as (...args: unknown[]) => Promise<never>
    Object.assign(storage, {
      [method]: async (...args: unknown[]) => {
        await happenings.shift()?.()
        return write(...args)
      },
    })
  }

  async function nodePortService(name: string, nodePort: number): Promise<void> {
    const spec = {type: 'NodePort', ports: [{port: 80, nodePort}]}
    const {status, text} = await one.api.post(PATH, {metadata: {name}, spec})
    assert.equal(status, 201, text)
  }
  const moveTo = ({api}: Member, name: string, nodePort: number) =>
    api.patch(`${PATH}/${name}`, {spec: {ports: [{port: 80, nodePort}]}})
  const portOf = async (name: string) => {
    const {body} = await two.api.get(`${PATH}/${name}`)
    const {ports} = (body as AnyBody & {spec: {ports: {nodePort: number}[]}}).spec
    return ports[0]?.nodePort
  }
  const moves = (name: string) => async () => {
    assert.equal((await moveTo(one, name, WANTED)).status, 200)
  }

  it('undo the later of two updates, whose writer is asked to try again', async () => {
    await nodePortService('a', 30_001)
    await nodePortService('b', 30_002)
    beforeWrites('update', moves('a'))
    const {status, body} = await moveTo(two, 'b', WANTED)
    assert.deepEqual([status, body.reason], [503, 'ServiceUnavailable'])
    assert.deepEqual([await portOf('a'), await portOf('b')], [WANTED, 30_002])
    assert.equal((await moveTo(two, 'b', WANTED)).status, 422)
  })

  it('undo an update after a create, and a create after an update', async () => {
    await nodePortService('a', 30_001)
    beforeWrites('update', () => nodePortService('b', WANTED))
    assert.equal((await moveTo(two, 'a', WANTED)).status, 503)
    assert.equal(await portOf('a'), 30_001)

    assert.equal((await one.api.delete(`${PATH}/b`)).status, 200)
    beforeWrites('create', moves('a'))
    const spec = {type: 'NodePort', ports: [{port: 80, nodePort: WANTED}]}
    assert.equal((await two.api.post(PATH, {metadata: {name: 'c'}, spec})).status, 503)
    assert.equal((await two.api.get(`${PATH}/c`)).status, 404)
    assert.equal(await portOf('a'), WANTED)
  })

  it('keep the earlier one, also if the later one is there when it is checked', async () => {
    await nodePortService('a', 30_001)
    await nodePortService('b', 30_002)
    const {storage} = two
    const write = storage.update.bind(storage)
    storage.update = async (...args) => {
      storage.update = write
      const entry = await write(...args)
      // As a server does that has checked before, and dies before it checks again.
      const late = await one.storage.get('/registry/core/services/default/a')
      const text = Buffer.from(late!.value).toString().replace('30001', String(WANTED))
      await one.storage.update(late!.key, Buffer.from(text), late!.revision)
      assert.equal(await portOf('a'), WANTED)
      return entry
    }
    assert.equal((await moveTo(two, 'b', WANTED)).status, 200)
    assert.equal(await portOf('b'), WANTED)
  })

  it('give something else to one that cannot have back what it had', async () => {
    await nodePortService('a', 30_001)
    await nodePortService('b', 30_002)
    beforeWrites('update', moves('a'), () => nodePortService('c', 30_002))
    assert.equal((await moveTo(two, 'b', WANTED)).status, 503)
    const ports = await Promise.all(['a', 'b', 'c'].map(portOf))
    assert.deepEqual([ports[0], ports[2]], [WANTED, 30_002])
    assert.equal(new Set(ports).size, 3, ports.join())
  })

  const gets = (name: string, ip: string) => async () => {
    const changed = await one.api.patch(`${PATH}/${name}/status`, {
      status: {loadBalancer: {ingress: [{ip}]}},
    })
    assert.equal(changed.status, 200, changed.text)
  }
  const label = {metadata: {labels: {of: 'the-update'}}}

  it('undo an update also if its status is written meanwhile, and keep the status', async () => {
    await nodePortService('a', 30_001)
    await nodePortService('b', 30_002)
    const read = async () => (await two.api.get(`${PATH}/b`)).body
    const {metadata, spec} = await read()
    beforeWrites('update', moves('a'), gets('b', '192.0.2.1'), gets('b', '192.0.2.2'))
    const change = {...label, spec: {type: 'NodePort', ports: [{port: 80, nodePort: WANTED}]}}
    assert.equal((await two.api.patch(`${PATH}/b`, change)).status, 503)
    const now = await read()
    assert.deepEqual(now.spec, spec)
    assert.deepEqual(now.status, {loadBalancer: {ingress: [{ip: '192.0.2.2'}]}})
    assert.equal(now.metadata.labels, undefined)
    const owners = ({managedFields = []}: AnyBody['metadata']) =>
      managedFields.map(({subresource, fieldsV1}) => [subresource, fieldsV1])
    const [before] = owners(metadata)
    const [first, second] = owners(now.metadata)
    assert.deepEqual(first, before)
    assert.equal(second?.[0], 'status')
  })

  async function createWhile(happens: () => Promise<void>): Promise<void> {
    await nodePortService('a', 30_001)
    beforeWrites('create', moves('a'))
    beforeWrites('delete', happens)
    const spec = {type: 'NodePort', ports: [{port: 80, nodePort: WANTED}]}
    assert.equal((await two.api.post(PATH, {metadata: {name: 'c'}, spec})).status, 503)
  }

  it('undo a create also if its status is written meanwhile', async () => {
    await createWhile(gets('c', '192.0.2.1'))
    assert.equal((await two.api.get(`${PATH}/c`)).status, 404)
  })

  const finalizers = ['service.kubernetes.io/load-balancer-cleanup']
  /** As from a server that does not know yet that somebody else has the port. */
  const getsFinalizer = async () => {
    const entry = await one.storage.get('/registry/core/services/default/c')
    const object = JSON.parse(Buffer.from(entry!.value).toString()) as AnyBody
    object.metadata.finalizers = finalizers
    await one.storage.update(entry!.key, Buffer.from(JSON.stringify(object)), entry!.revision)
  }

  it('give something else to a new one that has got a finalizer meanwhile', async () => {
    await createWhile(getsFinalizer)
    const {body} = await two.api.get(`${PATH}/c`)
    assert.deepEqual(body.metadata.finalizers, finalizers)
    assert.equal(await portOf('a'), WANTED)
    assert.notEqual(await portOf('c'), WANTED)
  })

  it('leave a new one alone that is being deleted', async () => {
    await createWhile(async () => {
      await getsFinalizer()
      assert.equal((await one.api.delete(`${PATH}/c`)).status, 200)
    })
    const {body} = await two.api.get(`${PATH}/c`)
    assert.deepEqual(body.metadata.finalizers, finalizers)
    assert.notEqual(body.metadata.deletionTimestamp, undefined)
  })

  it('leave alone what somebody else has changed since', async () => {
    await nodePortService('a', 30_001)
    await nodePortService('b', 30_002)
    beforeWrites('update', moves('a'), async () => {
      assert.equal((await moveTo(one, 'b', 30_007)).status, 200)
    })
    assert.equal((await moveTo(two, 'b', WANTED)).status, 200)
    assert.equal(await portOf('b'), 30_007)
  })

  it('refuse a write that cannot be undone, because the object changes all the time', async () => {
    await nodePortService('a', 30_001)
    await nodePortService('b', 30_002)
    const changes = Array.from({length: 100}, (_, index) => gets('b', `192.0.2.${index}`))
    beforeWrites('update', moves('a'), ...changes)
    const {status, body} = await moveTo(two, 'b', WANTED)
    assert.equal(status, 503)
    assert.match(body.message, /this one kept changing, so it could not be undone/)
  })

  it('undo an update that asks for an address', async () => {
    const spec = {type: 'ExternalName', externalName: 'example.com'}
    for (const name of ['a', 'b']) await one.api.post(PATH, {metadata: {name}, spec})
    const claim = ({api}: Member, name: string) =>
      api.patch(`${PATH}/${name}`, {
        spec: {type: 'ClusterIP', clusterIP: ADDRESS, ports: [{port: 80}]},
      })
    beforeWrites('update', async () => {
      assert.equal((await claim(one, 'a')).status, 200)
    })
    assert.equal((await claim(two, 'b')).status, 503)
    const {body} = await two.api.get(`${PATH}/b`)
    assert.deepEqual(body.spec.type, 'ExternalName')
  })

  it('undo what cannot be checked', async () => {
    await nodePortService('a', 30_001)
    const {storage} = two
    const write = storage.update.bind(storage)
    storage.update = async (key, value, revision) => {
      storage.update = write
      storage.loseEvents()
      storage.failure = new Error('no connection')
      return write(key, value, revision)
    }
    assert.equal((await moveTo(two, 'a', WANTED)).status, 504)
    storage.failure = undefined
    assert.equal(await portOf('a'), 30_001)
  })
})
