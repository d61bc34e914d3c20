import assert from 'node:assert/strict'
import {isIP} from 'node:net'
import type {NodeAddress} from '../../src/api/node.ts'
import {createApiClient, type ApiClient} from '../../src/client/api-client.ts'
import {InProcessTransport} from '../../src/client/in-process-transport.ts'
import {servingPolicy} from '../../src/control-plane/serving-policy.ts'
import {indexOf} from '../../src/controllers/approval/opinion-reader.ts'
import {saveIssued} from '../../src/controllers/approval/record-store.ts'
import {startController, type RunningController} from '../../src/controllers/kernel/controller.ts'
import {kubeletServingApproverController} from '../../src/controllers/kubelet-serving-approver.ts'
import {findCondition, stateOf} from '../../src/csr/conditions.ts'
import {TrustError} from '../../src/errors.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import type {SubjectNames} from '../../src/pki/subject-names.ts'
import {systemClock} from '../../src/runtime.ts'
import type {Handler} from '../../src/server/kernel/api-request.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'
import {
  BOOTSTRAPPER,
  SERVING,
  SERVING_USAGES,
  bindApprovals,
  clusterConfig,
  nodeUser,
  sign,
  submit,
  wished,
  withEndpoints,
} from './approval/support.ts'

const ACCOUNT = 'system:serviceaccount:kube-system:kubelet-serving-approver'

describe('kubelet-serving-approver', () => {
  let server: TestServer
  let admin: ApiClient
  let running: RunningController
  let count = 0
  const errors: string[] = []

  async function start(
    deny: boolean,
    change: (reader: ApiClient) => ApiClient = (one) => one,
    changeWriter = change,
  ) {
    const reader = change(server.clientAs({username: 'system:kube-controller-manager', groups: []}))
    running = startController(
      kubeletServingApproverController(
        reader,
        changeWriter(server.clientAs({username: ACCOUNT, groups: ['system:serviceaccounts']})),
        {
          clock: systemClock,
          policy: () => servingPolicy({deny}),
          revocations: reader.configMaps,
        },
      ),
      (name, key, error) => errors.push(`${name} ${key}: ${String(error)}`),
    )
    await running.synced
  }

  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    await admin.configMaps.create(clusterConfig)
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

  /** No two tests share one. */
  const address = () => `192.168.1.${++count}`

  /** Asks as the node itself, from an address. */
  async function ask(
    node: string,
    names: Partial<SubjectNames>,
    at = '192.168.0.1',
    forged: {extra?: Record<string, string[]>} = {},
  ): Promise<string> {
    const name = `serving-${++count}`
    const {spec} = await wished({
      signerName: SERVING,
      commonName: `system:node:${node}`,
      usages: SERVING_USAGES,
      names,
    })
    const {request, signerName, usages = []} = spec
    const seen: Handler = (sent) => server.handler({...sent, remoteAddress: at})
    const client = createApiClient(new InProcessTransport(seen, nodeUser(node)))
    await client.csrs.create({metadata: {name}, spec: {request, signerName, usages, ...forged}})
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

  it('approves a node’s own name and the address that the server saw it at', async () => {
    const node = nodeName()
    const at = address()
    await register(node, host(node), ip(at))
    const name = await ask(node, {dns: [node.toUpperCase()], ips: [at]}, at)
    await becomes(name, 'Approved')
    assert.equal(findCondition(await get(name), 'Approved')?.reason, 'AutoApproved')
  })

  it('holds an address that the node only says it has, and says so once', async () => {
    const node = nodeName()
    const [at, claimed] = [address(), address()]
    await register(node, host(node), ip(at), ip(claimed))
    const name = await ask(node, {dns: [node], ips: [claimed]}, at)
    await heldAs(name, new RegExp(`"${claimed}" is not "${at}", where the server saw`))
    await admin.nodes.patch(node, {metadata: {labels: {a: 'b'}}}, {type: 'merge'})
    await admin.csrs.patch(name, {metadata: {labels: {a: 'b'}}}, {type: 'merge'})
    await becomes(await ask(node, {dns: [node], ips: [at]}, at), 'Approved')
    assert.equal(stateOf(await get(name)), 'Pending')
    assert.equal((await messagesOn(name)).length, 1)
  })

  it('holds an address that another Node has, and looks again when that is gone', async () => {
    const [node, other] = [nodeName(), nodeName()]
    const at = address()
    await register(node, host(node), ip(at))
    await register(other, ip(at))
    const name = await ask(node, {dns: [node], ips: [at]}, at)
    await heldAs(name, new RegExp(`"${at}" is also that of Node "${other}"`))
    await admin.nodes.delete(other)
    await becomes(name, 'Approved')
  })

  it('does not let a node speak as the API server by saying that its names are its own', async () => {
    const node = nodeName()
    const at = address()
    const claimed = [
      '10.96.0.1',
      '127.0.0.1',
      'localhost',
      'kubernetes.default.svc',
      '*.example.com',
    ]
    await register(node, ...claimed.map(ip))
    for (const one of claimed) {
      const name = await ask(node, isIP(one) ? {ips: [one]} : {dns: [one]}, at)
      await until(async () => (await messagesOn(name)).length > 0)
      assert.equal(stateOf(await get(name)), 'Pending', one)
    }
  })

  it('does not believe an address that a node or an impersonator writes into a request', async () => {
    const node = nodeName()
    const [at, forged] = [address(), address()]
    await register(node, host(node), ip(forged))
    const extra = {'trustadm.io/caller-address': [forged]}
    const written = await ask(node, {ips: [forged]}, at, {extra})
    assert.deepEqual((await get(written)).spec.extra, {'trustadm.io/caller-address': [at]})

    const {request, signerName, usages = []} = (await get(written)).spec
    const impersonator = createApiClient(
      new InProcessTransport((sent) => server.handler({...sent, remoteAddress: forged}), ADMIN),
      {impersonate: {...nodeUser(node), extra}},
    )
    const copied = await impersonator.csrs.create({
      metadata: {name: `${written}-copied`},
      spec: {request, signerName, usages},
    })
    assert.deepEqual(copied.spec.extra ?? {}, {})
    await heldAs(`${written}-copied`, /is not an address that the server saw/)
  })

  it('gives a kubelet with serverTLSBootstrap its certificate without a person', async () => {
    const node = 'worker-1.example.com'
    const at = '192.168.77.4'
    await register(node, host(node), ip(at))
    const {certificate} = await server.credentialsFor(`system:node:${node}`, ['system:nodes'])
    const {der, fingerprint} = parseCertificate(certificate)
    const {spec} = await wished({
      signerName: SERVING,
      commonName: `system:node:${node}`,
      usages: ['digital signature', 'server auth'],
      names: {dns: [node], ips: [at]},
    })
    const {status, body} = await server.handler({
      method: 'POST',
      path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      query: new URLSearchParams(),
      headers: {'content-type': 'application/json', 'user-agent': 'kubelet/v1.36.4'},
      rawHeaders: [],
      body: Buffer.from(
        JSON.stringify({
          metadata: {generateName: 'csr-'},
          spec: {request: spec.request, signerName: SERVING, usages: spec.usages},
        }),
      ),
      peer: {fingerprint, chain: [der]},
      // As a server that listens on all addresses of both families sees it.
      remoteAddress: `::ffff:${at}`,
      signal: new AbortController().signal,
    })
    assert.equal(status, 201)
    const {metadata} = JSON.parse(body as string) as {metadata: {name: string}}
    await becomes(metadata.name, 'Approved')
  })

  it('waits for a Node that is not there yet', async () => {
    const node = nodeName()
    const name = await ask(node, {dns: [node]})
    await heldAs(name, /there is no Node and no Machine/)
    await register(node, host(node))
    await becomes(name, 'Approved')
  })

  it('believes the Machine, not the Node, if there is one', async () => {
    const node = nodeName()
    const [own, more] = [address(), address()]
    await register(node, host(node), ip(own))
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
      const probe = await ask(node, {dns: [node], ips: [more]})
      await until(async () => (await messagesOn(probe)).length > 0)
      return (await messagesOn(probe)).some((one) => one.includes('Machine'))
    })
    const name = await ask(node, {dns: [node], ips: [own]}, own)
    await heldAs(name, new RegExp(`not registered by Machine "machine-of-${node}"`))
    await tell([host(`${node}.`), ip(own)])
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
    assert.match(message ?? '', /"evil\.example\.com" is not the name of node/)
    assert.deepEqual(await messagesOn(name), [])
  })

  describe('on a cluster whose API servers keep an EndpointSlice', () => {
    const shared = '192.168.200.1'
    const withSlice = (client: ApiClient) => withEndpoints(client, [shared])
    before(async () => {
      await running.close()
      await start(false, (reader) => reader, withSlice)
    })
    const registerControlPlane = async (node: string) => {
      await register(node, host(node), ip(shared))
      const labels = {'node-role.kubernetes.io/control-plane': ''}
      await admin.nodes.patch(node, {metadata: {labels}}, {type: 'merge'})
    }
    /** With a token, and approved as kube-controller-manager does it. */
    const giveAway = async (node: string) => {
      const name = `taken-${++count}`
      const keys = await generateKeys('ECDSA-P256')
      await submit(server.clientAs(BOOTSTRAPPER), {name, commonName: `system:node:${node}`, keys})
      await admin.csrs.updateSubresource('approval', {
        ...(await get(name)),
        status: {conditions: [{type: 'Approved', status: 'True', reason: 'AutoApproved'}]},
      })
      await sign(server, admin, name, {keys, lifetime: 3_600_000, clock: systemClock})
      return name
    }

    it('gives a control-plane node the address of its API server until its name is given away', async () => {
      await bindApprovals(admin)
      const node = nodeName()
      await registerControlPlane(node)
      await becomes(await ask(node, {dns: [node], ips: [shared]}), 'Approved')

      const taken = await giveAway(node)
      const says = new RegExp(
        `the name "${node}" was given to "system:bootstrap:abcdef" at \\S+Z, after the Node was registered at \\S+Z`,
      )
      const name = await ask(node, {dns: [node], ips: [shared]})
      await heldAs(name, says)

      // The request is deleted after an hour: then the record of the name knows it.
      const issued = indexOf(admin, [await get(taken)], [node]).issuedFor(node)
      assert.equal(issued.length, 1)
      await Promise.all(issued.map((one) => saveIssued(admin, node, one, {now: systemClock.now()})))
      await admin.csrs.delete(taken)
      await admin.csrs.delete(name)
      await heldAs(await ask(node, {dns: [node], ips: [shared]}), says)
      await admin.nodes.delete(node)
    })

    it('leaves it to a person while the record of the name cannot be read', async () => {
      await running.close()
      const find = () => Promise.reject(new TrustError('FORBIDDEN', 'it may not be read'))
      await start(
        false,
        (reader) => reader,
        (client) => {
          const {configMaps} = client
          const read: typeof configMaps.find = (key, options) =>
            typeof key !== 'string' && key.namespace === 'trustadm-system'
              ? find()
              : configMaps.find(key, options)
          return withSlice({...client, configMaps: {...configMaps, find: read}})
        },
      )
      const node = nodeName()
      await registerControlPlane(node)
      await heldAs(
        await ask(node, {dns: [node], ips: [shared]}),
        /^left pending: not known: it may not be read$/,
      )
    })
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
