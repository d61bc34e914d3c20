import assert from 'node:assert/strict'
import type {ApiClient} from '../../src/client/api-client.ts'
import {readRecord, recordKey} from '../../src/controllers/approval/node-record.ts'
import {
  type Measured,
  type RunningController,
  startController,
} from '../../src/controllers/kernel/controller.ts'
import {machineApproverController} from '../../src/controllers/machine-approver.ts'
import {findCondition, stateOf} from '../../src/csr/conditions.ts'
import {CREDENTIAL_ID} from '../../src/csr/user-extra.ts'
import {TrustError} from '../../src/errors.ts'
import {generateKeys, type KeyPair} from '../../src/pki/keys.ts'
import {systemClock} from '../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'
import {bootstrapper, foreignCredential} from './approval/machine-cases.ts'
import {BOOTSTRAPPER, bindApprovals, readable, sign, submit, type Wish} from './approval/support.ts'

const ACCOUNT = 'system:serviceaccount:kube-system:machine-approver'
const NAMESPACE = 'kube-system'
const RBAC = 'rbac.authorization.k8s.io'
const HOUR = 3_600_000

describe('machine-approver', () => {
  let server: TestServer
  let admin: ApiClient
  let fleet: ApiClient
  let running: RunningController | undefined
  let count = 0
  let lines: string[] = []
  const gauges = new Map<string, () => Iterable<Measured>>()
  const errors: string[] = []

  async function start(change: (reader: ApiClient) => ApiClient = (one) => one) {
    await running?.close()
    lines = []
    running = startController(
      machineApproverController(
        change(server.clientAs({username: 'system:kube-controller-manager', groups: []})),
        server.clientAs({username: ACCOUNT, groups: ['system:serviceaccounts']}),
        {
          clock: systemClock,
          log: (line) => lines.push(line),
          meter: {measured: ({name}, _type, measure) => gauges.set(name, measure)},
        },
      ),
      (name, key, error) => errors.push(`${name} ${key}: ${String(error)}`),
    )
    await running.synced
  }

  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    fleet = server.clientAs(bootstrapper())
    await bindApprovals(admin)
    await admin.clusterRoleBindings.create({
      metadata: {name: 'fleet'},
      roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: 'system:node-bootstrapper'},
      subjects: [{kind: 'ServiceAccount', namespace: NAMESPACE, name: 'node-bootstrapper'}],
    })
    await admin.secrets.create(foreignCredential())
    await start()
  })
  afterEach(async () => {
    await running?.close()
    running = undefined
    await server.stop()
    assert.deepEqual([...errors, ...server.errors], [])
  })

  const newKeys = () => generateKeys('ECDSA-P256')
  async function ask(node: string, keys: KeyPair, client = fleet, wish: Wish = {}) {
    const name = `csr-${++count}`
    await submit(client, {name, commonName: `system:node:${node}`, keys, ...wish})
    return name
  }
  async function expect(name: string, dns: string[] = [name]) {
    const made = await admin.machines.create({metadata: {namespace: NAMESPACE, name}})
    const addresses = dns.map((address) => ({type: 'InternalDNS', address}))
    await admin.machines.updateStatus({...made, status: {addresses}})
  }
  const becomes = (name: string, state: string) =>
    until(async () => stateOf(await admin.csrs.get(name)) === state)
  const eventsOn = async (name: string, namespace = 'default') => {
    const fieldSelector = `involvedObject.name=${name}`
    const {items} = await admin.events.list({namespace, fieldSelector})
    return items.map(({reason = '', message = ''}) => `${reason}: ${message}`)
  }
  const heldAs = (name: string, event: RegExp) =>
    until(async () => (await eventsOn(name)).some((one) => event.test(one)))
  const decide = async (name: string, type: 'Approved' | 'Denied') =>
    admin.csrs.updateSubresource('approval', {
      ...(await admin.csrs.get(name)),
      status: {conditions: [{type, status: 'True', reason: 'ByHand'}]},
    })
  const gauge = (name: string) => [...(gauges.get(name)?.() ?? [])][0]?.value

  it('approves once the Machine is there, and writes down who has the name', async () => {
    const keys = await newKeys()
    const name = await ask('w1', keys)
    await heldAs(name, /^NoMachine: left pending: no Machine has the InternalDNS "w1"$/)
    await expect('w1')
    await becomes(name, 'Approved')
    const csr = await admin.csrs.get(name)
    const {reason, message} = findCondition(csr, 'Approved') ?? {}
    assert.equal(reason, 'AutoApproved')
    assert.match(message ?? '', /an expected Machine/)
    await sign(server, admin, name, {keys, lifetime: HOUR, clock: systemClock})
    const {pin} = readable(csr)
    await until(async () => {
      const object = await admin.configMaps.find(recordKey('w1'))
      const record = object && readRecord(object)
      // Sooner than the one that was only expected.
      const end = record?.until?.getTime() ?? Infinity
      return record?.holder === pin && end < Date.now() + 2 * HOUR
    })
    const record = readRecord(await admin.configMaps.get(recordKey('w1')))
    assert.equal(record.requester, bootstrapper().username)
  })

  it('gives a name that has a certificate to no other key', async () => {
    await expect('w1')
    const first = await ask('w1', await newKeys())
    await becomes(first, 'Approved')
    await admin.csrs.delete(first)
    const second = await ask('w1', await newKeys())
    await heldAs(second, /^NodeNameTaken: .*it is kept for another key/)
  })

  it('holds several keys for one Machine until a person leaves one', async () => {
    const [good, bad] = [await ask('w1', await newKeys()), await ask('w1', await newKeys())]
    await expect('w1')
    await heldAs(good, new RegExp(`^SeveralKeys: .*request "${bad}" asks with another key`))
    await heldAs(bad, /^SeveralKeys: /)
    await decide(bad, 'Denied')
    await becomes(good, 'Approved')
  })

  it('writes one Event for each of many keys, however many there are', async () => {
    const names: string[] = []
    for (let number = 0; number < 5; number++) names.push(await ask('w1', await newKeys()))
    await expect('w1')
    const [good = '', ...others] = names
    await heldAs(good, /^SeveralKeys: left pending: several requests ask with other keys$/)
    for (const bad of others) await decide(bad, 'Denied')
    await becomes(good, 'Approved')
    // Before the Machine was there, the lack of one came first: that is another Event.
    const events = await eventsOn(good)
    assert.equal(events.filter((one) => /^SeveralKeys: .*several/.test(one)).length, 1)
  })

  /** No ConfigMap names its CA any more. */
  const revoked = () =>
    server.clientAs({...bootstrapper(), extra: {[CREDENTIAL_ID]: ['X509SHA256=ab']}})

  it('does not count a key that a revoked credential asks with', async () => {
    await ask('w1', await newKeys(), revoked())
    await expect('w1')
    await becomes(await ask('w1', await newKeys()), 'Approved')
  })

  it('is not stopped by the requests of a revoked credential', async () => {
    await running?.close()
    const keys = await newKeys()
    const stolen = revoked()
    const flood = Array.from({length: 102}, (_one, index) => `x${index}`)
    await Promise.all(flood.map((node) => ask(node, keys, stolen)))
    await expect('w1')
    const good = await ask('w1', keys)
    await start()
    await becomes(good, 'Approved')
    assert.deepEqual(lines, [])
  })

  it('lets a Machine with several names in under one of them', async () => {
    await expect('w1', ['w1', 'w1.example.com'])
    const keys = await newKeys()
    const names = await Promise.all(['w1', 'w1.example.com'].map((node) => ask(node, keys)))
    const states = async () =>
      await Promise.all(names.map(async (name) => stateOf(await admin.csrs.get(name))))
    await until(async () => (await states()).includes('Approved'))
    await until(async () => {
      const events = await Promise.all(names.map((name) => eventsOn(name)))
      return events.flat().some((one) => one.startsWith('MachineHasNode: '))
    })
    assert.deepEqual((await states()).sort(), ['Approved', 'Pending'])
  })

  it('sees what was approved before the bootstrapper asked for the first time', async () => {
    const token = server.clientAs(BOOTSTRAPPER)
    const other = await ask('w1', await newKeys(), token)
    await decide(other, 'Approved')
    await expect('w1')
    const name = await ask('w1', await newKeys())
    await heldAs(name, new RegExp(`^NodeNameTaken: .*request "${other}" of that name was approved`))
  })

  it('leaves the requests of tokens alone', async () => {
    await expect('w1')
    await expect('w2')
    const other = await ask('w1', await newKeys(), server.clientAs(BOOTSTRAPPER))
    await becomes(await ask('w2', await newKeys()), 'Approved')
    assert.equal(stateOf(await admin.csrs.get(other)), 'Pending')
    assert.deepEqual(await eventsOn(other), [])
  })

  it('stops while more requests wait than there are Machines and 100, and reports it once', async () => {
    await running?.close()
    const keys = await newKeys()
    const flood = Array.from({length: 101}, (_one, index) => `x${index}`)
    const names = await Promise.all(flood.map((node) => ask(node, keys)))
    await expect('w1')
    const good = await ask('w1', keys)
    await start()
    await until(() => lines.length > 0)
    assert.deepEqual(lines, [
      'error: machine-approver: stopped: more than 101 requests of the last hour are undecided: nothing is approved until they are',
    ])
    assert.equal(gauge('mapi_current_pending_csr'), 102)
    assert.equal(gauge('mapi_max_pending_csr'), 101)
    await until(async () => (await eventsOn('node-bootstrapper', NAMESPACE)).length > 0)
    const [event = ''] = await eventsOn('node-bootstrapper', NAMESPACE)
    assert.match(event, /^TooManyRequests: more than 101 requests/)
    assert.equal(stateOf(await admin.csrs.get(good)), 'Pending')
    assert.deepEqual(await eventsOn(good), [])

    await decide(names[0] ?? '', 'Denied')
    await becomes(good, 'Approved')
    assert.equal(lines[1], 'machine-approver: approves again')
  })

  it('is off where Machines are not served, and says so once', async () => {
    const missing = () => {
      throw new TrustError('NOT_FOUND', '404 page not found')
    }
    await start((reader) => ({
      ...reader,
      machines: {...reader.machines, list: missing, watch: missing},
    }))
    await heldAs(await ask('w1', await newKeys()), /^NoMachine: /)
    assert.deepEqual(lines, ['machine-approver: off, because the cluster does not serve Machines'])
  })
})
