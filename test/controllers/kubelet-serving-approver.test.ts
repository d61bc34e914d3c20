import assert from 'node:assert/strict'
import type {NodeAddress} from '../../src/api/node.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {startController, type RunningController} from '../../src/controllers/controller.ts'
import {kubeletServingApproverController} from '../../src/controllers/kubelet-serving-approver.ts'
import {findCondition, stateOf} from '../../src/csr/conditions.ts'
import {TrustError} from '../../src/errors.ts'
import {systemClock} from '../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'
import {SERVING, SERVING_USAGES, nodeUser, submit, type Wish} from './approval/support.ts'

const ACCOUNT = 'system:serviceaccount:kube-system:kubelet-serving-approver'

describe('kubelet-serving-approver', () => {
  let server: TestServer
  let admin: ApiClient
  let running: RunningController
  let count = 0
  const errors: string[] = []

  async function start(deny: boolean, change: (reader: ApiClient) => ApiClient = (one) => one) {
    running = startController(
      kubeletServingApproverController(
        change(server.clientAs({username: 'system:kube-controller-manager', groups: []})),
        server.clientAs({username: ACCOUNT, groups: ['system:serviceaccounts']}),
        systemClock,
        {deny},
      ),
      (name, key, error) => errors.push(`${name} ${key}: ${String(error)}`),
    )
    await running.synced
  }

  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    await start(false)
  })
  after(async () => {
    await running.close()
    await server.stop()
    assert.deepEqual([...errors, ...server.errors], [])
  })

  const nodeName = () => `s${++count}`
  const get = (name: string) => admin.csrs.get(name)
  const becomes = (name: string, state: string) =>
    until(async () => stateOf(await get(name)) === state)

  /** Asks as the node itself, for its name and an address. */
  async function ask(node: string, names: Wish['names']): Promise<string> {
    const name = `serving-${++count}`
    await submit(server.clientAs(nodeUser(node)), {
      name,
      signerName: SERVING,
      commonName: `system:node:${node}`,
      usages: SERVING_USAGES,
      names: names ?? {dns: [node], ips: ['10.0.0.9']},
    })
    return name
  }
  const register = async (node: string, ...addresses: NodeAddress[]) => {
    await admin.nodes.create({metadata: {name: node}})
    await admin.nodes.patch(node, {status: {addresses}}, {type: 'merge', subresource: 'status'})
  }
  const host = (address: string): NodeAddress => ({type: 'Hostname', address})
  const ip = (address: string): NodeAddress => ({type: 'InternalIP', address})
  const messagesOn = async (name: string) => {
    const fieldSelector = `involvedObject.name=${name},reason=KubeletServingHeld`
    const {items} = await admin.events.list({namespace: 'default', fieldSelector})
    return items.map(({message = ''}) => message)
  }
  const heldAs = (name: string, message: RegExp) =>
    until(async () => (await messagesOn(name)).some((one) => message.test(one)))

  it('approves what the Node has registered', async () => {
    const node = nodeName()
    await register(node, host(node), ip('10.0.0.9'))
    const name = await ask(node, {dns: [node.toUpperCase()], ips: ['10.0.0.9']})
    await becomes(name, 'Approved')
    assert.equal(findCondition(await get(name), 'Approved')?.reason, 'AutoApproved')
  })

  it('holds a foreign address, says so once, and looks again when the Node registers it', async () => {
    const node = nodeName()
    await register(node, host(node))
    const name = await ask(node, {dns: [node], ips: ['10.0.0.9']})
    await heldAs(name, new RegExp(`"10\\.0\\.0\\.9" is not registered by Node "${node}"`))
    await admin.nodes.patch(node, {metadata: {labels: {a: 'b'}}}, {type: 'merge'})
    await admin.csrs.patch(name, {metadata: {labels: {a: 'b'}}}, {type: 'merge'})
    assert.equal(stateOf(await get(name)), 'Pending')
    assert.equal((await messagesOn(name)).length, 1)
    await admin.nodes.patch(
      node,
      {status: {addresses: [host(node), ip('10.0.0.9')]}},
      {type: 'merge', subresource: 'status'},
    )
    await becomes(name, 'Approved')
    assert.equal((await messagesOn(name)).length, 1)
  })

  it('waits for a Node that is not there yet', async () => {
    const node = nodeName()
    const name = await ask(node, {dns: [node]})
    await heldAs(name, /there is no Node and no Machine/)
    await register(node, host(node))
    await becomes(name, 'Approved')
  })

  it('believes the Machine, not the Node, where there is one', async () => {
    const node = nodeName()
    await register(node, host(node), ip('10.0.0.9'))
    const ref = {namespace: 'machines', name: `machine-of-${node}`}
    await admin.namespaces.create({metadata: {name: 'machines'}})
    await admin.machines.create({metadata: ref})
    const tell = (addresses: NodeAddress[]) =>
      admin.machines.patch(
        ref,
        {status: {addresses, nodeRef: {kind: 'Node', name: node}}},
        {type: 'merge', subresource: 'status'},
      )
    await tell([host(node)])
    // The machine's watch may be behind: what was decided before it is told of is not this test's.
    await until(async () => {
      const probe = await ask(node, {dns: [node], ips: ['10.0.0.8']})
      await until(async () => (await messagesOn(probe)).length > 0)
      return (await messagesOn(probe)).some((one) => one.includes('Machine'))
    })
    const name = await ask(node, {dns: [node], ips: ['10.0.0.9']})
    await heldAs(name, new RegExp(`not registered by Machine "machine-of-${node}"`))
    await tell([host(`${node}.`), ip('10.0.0.9')])
    await becomes(name, 'Approved')
  })

  it('leaves requests of other signers, and what is decided, alone', async () => {
    const node = nodeName()
    await register(node, host(node))
    const name = `other-${node}`
    await submit(server.clientAs(nodeUser(node)), {
      name,
      signerName: 'example.com/serving',
      commonName: `system:node:${node}`,
      usages: SERVING_USAGES,
      names: {dns: [node]},
    })
    await running.close()
    const denied = await ask(node, {dns: [node]})
    await admin.csrs.updateSubresource('approval', {
      ...(await get(denied)),
      status: {conditions: [{type: 'Denied', status: 'True', reason: 'ByHand'}]},
    })
    const before = [await get(name), await get(denied)]
    await start(false)
    await becomes(await ask(node, {dns: [node]}), 'Approved')
    assert.deepEqual([await get(name), await get(denied)], before)
  })

  it('with the policy to deny, denies what is not registered and names it', async () => {
    await running.close()
    await start(true)
    const node = nodeName()
    await register(node, host(node))
    const name = await ask(node, {dns: [node, 'evil.example.com']})
    await becomes(name, 'Denied')
    const {reason, message} = findCondition(await get(name), 'Denied') ?? {}
    assert.equal(reason, 'KubeletServingPolicy')
    assert.match(message ?? '', /"evil\.example\.com" is not registered/)
    assert.deepEqual(await messagesOn(name), [])
  })

  it('works where the cluster has no Machines', async () => {
    await running.close()
    const missing = () => {
      throw new TrustError('NOT_FOUND', '404 page not found')
    }
    await start(false, (reader) => ({
      ...reader,
      machines: {...reader.machines, list: missing, watch: missing},
    }))
    const node = nodeName()
    await register(node, host(node))
    await becomes(await ask(node, {dns: [node]}), 'Approved')
  })
})
