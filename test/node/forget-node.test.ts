import assert from 'node:assert/strict'
import type {ApiClient} from '../../src/client/api-client.ts'
import {recordKey} from '../../src/controllers/approval/node-record.ts'
import {forgetNode} from '../../src/node/forget-node.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

const OURS = 'sha256:ours'
const OTHERS = 'sha256:others'

describe('what a node that leaves deletes', () => {
  let server: TestServer
  let admin: ApiClient
  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
  })
  after(() => server.stop())

  const joined = async (name: string) => {
    await admin.nodes.create({metadata: {name}})
    await admin.configMaps.create({metadata: recordKey(name), data: {holder: OURS}})
  }
  const takenOver = async (name: string) => {
    await admin.configMaps.patch(recordKey(name), {data: {holder: OTHERS}}, {type: 'merge'})
    await admin.nodes.patch(name, {metadata: {labels: {machine: 'other'}}}, {type: 'merge'})
  }
  /** A client for whom something happens once, right before it deletes an object of a kind. */
  const interrupted = (kind: 'nodes' | 'configMaps', happen: () => Promise<void>) => {
    let isOver = false
    const client = server.clientAs(ADMIN)
    const objects = client[kind] as {delete: ApiClient['nodes']['delete']}
    objects.delete = async (...args) => {
      if (!isOver) await happen()
      isOver = true
      await admin[kind].delete(...args)
    }
    return client
  }

  it('is its Node and its record', async () => {
    await joined('one')
    const {node, record} = await forgetNode(admin, 'one', OURS)
    assert.deepEqual([node, record], ['deleted', 'deleted'])
    assert.equal(await admin.nodes.find('one'), undefined)
    assert.equal(await admin.configMaps.find(recordKey('one')), undefined)
  })

  it('is its Node and its record also if its last renewal was lost', async () => {
    await joined('lost')
    const data = {holder: OTHERS, previousKey: OURS}
    await admin.configMaps.patch(recordKey('lost'), {data}, {type: 'merge'})
    const {node, record} = await forgetNode(admin, 'lost', OURS)
    assert.deepEqual([node, record], ['deleted', 'deleted'])
  })

  it('is its Node also if a kubelet writes to it at that moment', async () => {
    await joined('two')
    const beat = async () => {
      await admin.nodes.patch('two', {metadata: {labels: {beat: '1'}}}, {type: 'merge'})
    }
    const {node, record} = await forgetNode(interrupted('nodes', beat), 'two', OURS)
    assert.deepEqual([node, record], ['deleted', 'deleted'])
    assert.equal(await admin.nodes.find('two'), undefined)
  })

  it('is no Node that another machine has taken over since it was read', async () => {
    await joined('three')
    const client = interrupted('nodes', () => takenOver('three'))
    const {node, record, reason} = await forgetNode(client, 'three', OURS)
    assert.deepEqual([node, record], ['kept', 'kept'])
    assert.equal(reason, 'the name now belongs to another machine')
    assert.ok(await admin.nodes.find('three'))
    assert.ok(await admin.configMaps.find(recordKey('three')))
  })

  it('is no record that another machine has taken over since it was read', async () => {
    await joined('four')
    const takeRecord = async () => {
      const taken = {data: {holder: OTHERS}}
      await admin.configMaps.patch(recordKey('four'), taken, {type: 'merge'})
    }
    const client = interrupted('configMaps', takeRecord)
    const {node, record, reason} = await forgetNode(client, 'four', OURS)
    assert.deepEqual([node, record], ['deleted', 'kept'])
    assert.equal(reason, 'the name now belongs to another machine')
    assert.equal((await admin.configMaps.get(recordKey('four'))).data?.holder, OTHERS)
  })
})
