import assert from 'node:assert/strict'
import type {Machine} from '../../src/api/machine.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {startController, type RunningController} from '../../src/controllers/kernel/controller.ts'
import {nodeLinkController} from '../../src/controllers/node-link.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'

const ACCOUNT = 'system:serviceaccount:kube-system:node-link'
const NAMESPACE = 'kube-system'

describe('node-link', () => {
  let server: TestServer
  let admin: ApiClient
  let running: RunningController
  let count = 0
  const errors: string[] = []

  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    running = startController(
      nodeLinkController(
        server.clientAs({username: 'system:kube-controller-manager', groups: []}),
        server.clientAs({username: ACCOUNT, groups: ['system:serviceaccounts']}),
      ),
      (name, key, error) => errors.push(`${name} ${key}: ${String(error)}`),
    )
    await running.synced
  })
  after(async () => {
    await running.close()
    await server.stop()
    assert.deepEqual([...errors, ...server.errors], [])
  })

  const nodeName = () => `n${++count}`
  async function machine(address: string, type = 'InternalDNS', spec: Machine['spec'] = {}) {
    const key = {namespace: NAMESPACE, name: `m${++count}`}
    const made = await admin.machines.create({metadata: key, spec})
    await admin.machines.updateStatus({...made, status: {addresses: [{type, address}]}})
    return key
  }
  const register = async (name: string, providerID?: string) =>
    await admin.nodes.create({metadata: {name}, ...(providerID && {spec: {providerID}})})
  const refOf = async (key: {namespace: string; name: string}) =>
    (await admin.machines.get(key)).status?.nodeRef
  /** Another pair was linked meanwhile: then this one was seen too. */
  async function afterOthers() {
    const name = nodeName()
    const key = await machine(name)
    await register(name)
    await until(async () => (await refOf(key)) !== undefined)
  }

  it('links a Machine once its Node registers, and keeps its addresses', async () => {
    const name = nodeName()
    const key = await machine(`${name.toUpperCase()}.`)
    const {metadata} = await register(name)
    await until(async () => (await refOf(key)) !== undefined)
    assert.deepEqual(await refOf(key), {kind: 'Node', name, uid: metadata.uid})
    assert.equal((await admin.machines.get(key)).status?.addresses?.length, 1)
  })

  it('links a Machine that is created after the Node', async () => {
    const name = nodeName()
    await register(name)
    const key = await machine(name)
    await until(async () => (await refOf(key))?.name === name)
  })

  it('does not link by a Hostname, which the machine approver does not check', async () => {
    const name = nodeName()
    const key = await machine(name, 'Hostname')
    await register(name)
    await afterOthers()
    assert.equal(await refOf(key), undefined)
  })

  it('keeps the reference when the Node is deleted, and follows one that registers again', async () => {
    const name = nodeName()
    const key = await machine(name)
    await register(name)
    await until(async () => (await refOf(key)) !== undefined)
    const before = await refOf(key)
    await admin.nodes.delete(name)
    await afterOthers()
    assert.deepEqual(await refOf(key), before)
    const {metadata} = await register(name)
    await until(async () => (await refOf(key))?.uid === metadata.uid)
  })

  it('does not link a Machine with another provider id', async () => {
    const name = nodeName()
    const key = await machine(name, 'InternalDNS', {providerID: 'aws:///i-1'})
    await register(name, 'aws:///i-2')
    await afterOthers()
    assert.equal(await refOf(key), undefined)
  })

  it('does not link by a provider id alone, which a node writes itself', async () => {
    const key = await machine('elsewhere', 'InternalDNS', {providerID: 'aws:///i-3'})
    await register(nodeName(), 'aws:///i-3')
    await afterOthers()
    assert.equal(await refOf(key), undefined)
  })

  it('chooses by the provider id among Machines of the same name, and otherwise none', async () => {
    const [one, other] = [nodeName(), nodeName()]
    const wrong = await machine(one, 'InternalDNS', {providerID: 'aws:///i-4'})
    const right = await machine(one, 'InternalDNS', {providerID: 'aws:///i-5'})
    const either = [await machine(other), await machine(other)]
    await register(one, 'aws:///i-5')
    await register(other)
    await until(async () => (await refOf(right)) !== undefined)
    await afterOthers()
    for (const key of [wrong, ...either]) assert.equal(await refOf(key), undefined)
  })
})
