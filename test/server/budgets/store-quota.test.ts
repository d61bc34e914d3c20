import assert from 'node:assert/strict'
import {openMemoryStorage} from '../../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api} from '../support.ts'

const MIB = 1024 * 1024
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const PODS = '/api/v1/namespaces/default/pods'
const large = (name: string) => ({metadata: {name}, data: {text: 'x'.repeat(900_000)}})

describe('the quota of the store', () => {
  const storage = openMemoryStorage()
  let server: TestServer
  let api: Api
  const start = async (quotaBytes: number) => {
    server = await startTestServer({controllers: false, storage, limits: {quotaBytes}})
    api = new Api(server.handler)
  }
  after(() => server.stop())

  it('refuses what would fill the disk with a clear error, and deleting makes room', async () => {
    await start(4 * MIB)
    const codes: number[] = []
    for (let count = 0; count < 6; count++)
      codes.push((await api.post(CONFIG_MAPS, large(`large-${count}`))).status)
    assert.deepEqual(codes, [201, 201, 201, 201, 507, 507])
    const {body} = await api.post(CONFIG_MAPS, large('one-more'))
    assert.equal(body.reason, 'InsufficientStorage')
    assert.match(body.message, /^the store is full: .*--quota-backend-bytes$/)

    const grown = {data: {more: 'x'.repeat(100_000)}}
    assert.equal((await api.patch(`${CONFIG_MAPS}/large-0`, grown)).status, 200)
    assert.equal((await api.patch(`${CONFIG_MAPS}/large-1`, {data: {text: 'less'}})).status, 200)
    assert.equal((await api.delete(`${CONFIG_MAPS}/large-2`)).status, 200)
    assert.equal((await api.post(CONFIG_MAPS, large('one-more'))).status, 201)
    await server.close(1000)
  })

  it('leaves a reserve that nodes and tokens cannot take', async () => {
    await start(storage.usage().live * 2)
    const node = api.as('system:node:a', 'system:nodes')
    const images = (mark: string) =>
      Array.from({length: 50}, () => ({names: [mark.padEnd(4000, 'x')], sizeBytes: 1}))
    const patch = (mark: string) =>
      node.patch('/api/v1/nodes/a/status', {status: {images: images(mark)}})
    assert.equal((await node.post('/api/v1/nodes', {metadata: {name: 'a'}})).status, 201)
    // Others fill what they share with it.
    let filled = 0
    for (; filled < 30; filled++) {
      const name = `filler-${filled}`
      const one = api.as(`system:node:${name}`, 'system:nodes')
      const body = {metadata: {name}, status: {images: images('y')}}
      if ((await one.post('/api/v1/nodes', body)).status === 507) break
    }
    assert.ok(filled > 3 && filled < 30, `${filled} filled it`)
    const refused = await patch('z')
    assert.equal(refused.status, 507)
    assert.match(refused.body.message, /^nodes and bootstrap tokens may store/)
    assert.equal((await api.post(CONFIG_MAPS, large('of-an-administrator'))).status, 201)
    await api.delete('/api/v1/nodes/filler-0')
    assert.equal((await patch('z')).status, 200)
    await server.close(1000)
  })

  it('counts the records of node names among what nodes and tokens store', async () => {
    await start(storage.usage().live * 2 + 4 * MIB)
    const records = '/api/v1/namespaces/trustadm-system/configmaps'
    const join = async () => {
      const node = api.as('system:node:c', 'system:nodes')
      const {status} = await node.post('/api/v1/nodes', {metadata: {name: 'c'}})
      await api.delete('/api/v1/nodes/c')
      return status
    }
    const names = ['large-a', 'large-b', 'large-c']
    for (const name of names) assert.equal((await api.post(CONFIG_MAPS, large(name))).status, 201)
    assert.equal(await join(), 201)
    for (const name of names) await api.delete(`${CONFIG_MAPS}/${name}`)
    for (const name of names) assert.equal((await api.post(records, large(name))).status, 201)
    assert.equal(await join(), 507)
    await server.close(1000)
    await start(storage.usage().live * 2)
    assert.equal(await join(), 507)
    for (const name of names) await api.delete(`${records}/${name}`)
    assert.equal(await join(), 201)
    await server.close(1000)
  })

  it('gives the pods of one node a part of it', async () => {
    await start(1024 * MIB)
    const node = api.as('system:node:b', 'system:nodes')
    await node.post('/api/v1/nodes', {metadata: {name: 'b'}})
    const {body} = await api.get('/api/v1/nodes/b')
    const {uid} = body.metadata
    const mirror = (index: number) => ({
      metadata: {
        name: `mirror-${index}`,
        annotations: {'kubernetes.io/config.mirror': 'x', large: 'x'.repeat(250_000)},
        ownerReferences: [{apiVersion: 'v1', kind: 'Node', name: 'b', uid, controller: true}],
      },
      spec: {
        nodeName: 'b',
        containers: [{name: 'c', image: 'i', args: Array(10).fill('x'.repeat(100_000))}],
      },
    })
    const codes: number[] = []
    for (let count = 0; count < 16; count++)
      codes.push((await node.post(PODS, mirror(count))).status)
    assert.deepEqual(codes.slice(0, 13), Array<number>(13).fill(201))
    const {status, body: refusal} = await node.post(PODS, mirror(99))
    assert.equal(status, 507)
    assert.equal(refusal.message, 'the pods of node "b" may take at most 16777216 bytes')
    await server.close(1000)
  })
})
