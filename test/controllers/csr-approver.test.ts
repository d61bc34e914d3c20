import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connectTo} from '../../src/client/connect.ts'
import {allowRejoin} from '../../src/control-plane/requests/rejoin.ts'
import {readRecord, recordKey} from '../../src/controllers/approval/node-record.ts'
import {hasGrant, type GrantedTo} from '../../src/controllers/approval/rejoin-grant.ts'
import {grantRejoin} from '../../src/controllers/approval/record-store.ts'
import {startController, type RunningController} from '../../src/controllers/kernel/controller.ts'
import {csrApproverController} from '../../src/controllers/csr-approver.ts'
import {findCondition, stateOf} from '../../src/csr/conditions.ts'
import {TrustError} from '../../src/errors.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {generateKeys, type KeyPair} from '../../src/pki/keys.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {sleep, type Clock} from '../../src/runtime.ts'
import {issueTime, keyRevocation, userRevocation} from '../../src/trust/revocations.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'
import {
  BOOTSTRAPPER,
  bindApprovals,
  nodeUser,
  sign,
  submit,
  wished,
  type Wish,
} from './approval/support.ts'

const HOUR = 3_600_000
const ACCOUNT = 'system:serviceaccount:kube-system:certificate-controller'

describe('csr-approver', () => {
  let server: TestServer
  let admin: ApiClient
  let token: ApiClient
  let running: RunningController
  let count = 0
  let later = 0
  const clock: Clock = {now: () => new Date(Date.now() + later)}
  const errors: string[] = []

  function start(change: (writer: ApiClient) => ApiClient = (one) => one): void {
    const reader = server.clientAs({username: 'system:kube-controller-manager', groups: []})
    running = startController(
      csrApproverController(
        reader,
        change(server.clientAs({username: ACCOUNT, groups: ['system:serviceaccounts']})),
        {clock, revocations: reader.configMaps},
      ),
      (name, key, error) => errors.push(`${name} ${key}: ${String(error)}`),
    )
  }

  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    token = server.clientAs(BOOTSTRAPPER)
    await bindApprovals(admin)
    start()
    await running.synced
  })
  after(async () => {
    await running.close()
    await server.stop()
    assert.deepEqual([...errors, ...server.errors], [])
  })

  const nodeName = () => `n${++count}`
  const get = (name: string) => admin.csrs.get(name)
  const becomes = (name: string, state: string) =>
    until(async () => stateOf(await get(name)) === state)

  /** Asks with a token for a node's name, as a new machine does. */
  const ask = (node: string, wish: Wish = {}) =>
    submit(token, {name: `csr-${++count}`, commonName: `system:node:${node}`, ...wish})
  const nameOf = ({metadata}: CertificateSigningRequest) => metadata.name ?? ''

  async function join(node: string, keys: KeyPair, lifetime = HOUR): Promise<string> {
    const name = nameOf(await ask(node, {keys}))
    await becomes(name, 'Approved')
    await sign(server, admin, name, {keys, lifetime, clock})
    return name
  }
  const recordOf = async (node: string) => {
    const record = await admin.configMaps.find(recordKey(node))
    return record && readRecord(record)
  }
  const pinIn = ({publicKey}: KeyPair) =>
    pinOf({publicKeyDer: publicKey.export({type: 'spki', format: 'der'})})
  /** With the end of the certificate that was signed, which is sooner than one that is only expected. */
  const recorded = (node: string, keys: KeyPair) =>
    until(async () => {
      const {holder, until: end} = (await recordOf(node)) ?? {}
      return holder === pinIn(keys) && end !== undefined && end.getTime() < Date.now() + 3 * HOUR
    })
  const eventsOn = async (name: string) => {
    const {items} = await admin.events.list({
      namespace: 'default',
      fieldSelector: `involvedObject.name=${name}`,
    })
    return items
  }
  const heldAs = (name: string, message: RegExp) =>
    until(async () => {
      const events = await eventsOn(name)
      return events.some((one) => one.reason === 'NodeNameTaken' && message.test(one.message ?? ''))
    })
  const grant = (node: string, to: GrantedTo, ttl = HOUR) =>
    grantRejoin(admin, node, {until: new Date(clock.now().getTime() + ttl), to})
  /** As `allow-rejoin` allows while nothing waits. */
  const grantNext = async (node: string, requester = BOOTSTRAPPER.username) => {
    const {metadata} = await admin.csrs.list()
    await grant(node, {requester, after: metadata.resourceVersion ?? ''})
  }
  const freshKeys = () => generateKeys('ECDSA-P256')
  const OTHER_TOKEN = {...BOOTSTRAPPER, username: 'system:bootstrap:ghijkl'}
  const askAs = (user: typeof BOOTSTRAPPER, node: string, keys: KeyPair) =>
    submit(server.clientAs(user), {
      name: `csr-${++count}`,
      commonName: `system:node:${node}`,
      keys,
    })
  /** One that is handled after everything that was there before it. */
  async function settled(): Promise<void> {
    await becomes(nameOf(await ask(nodeName())), 'Approved')
  }

  it('approves a node’s renewal of its own name, in Kubernetes’ words', async () => {
    const node = nodeName()
    const client = server.clientAs(nodeUser(node))
    await submit(client, {name: 'renewal', commonName: `system:node:${node}`})
    await becomes('renewal', 'Approved')
    const {reason, message, status} = findCondition(await get('renewal'), 'Approved') ?? {}
    assert.deepEqual(
      {reason, message, status},
      {
        reason: 'AutoApproved',
        message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
        status: 'True',
      },
    )
  })

  it('approves a new machine that asks with a token', async () => {
    const name = nameOf(await ask(nodeName()))
    await becomes(name, 'Approved')
    assert.equal(
      findCondition(await get(name), 'Approved')?.message,
      'Auto approving kubelet client certificate after SubjectAccessReview.',
    )
  })

  it('leaves the name of an expected Machine to the inventory, whoever asks with a token, until an operator grants it', async () => {
    const node = `${nodeName()}.example.com`
    const ref = {namespace: 'kube-system', name: `machine-${++count}`}
    const made = await admin.machines.create({metadata: ref})
    const addresses = [
      {type: 'InternalDNS', address: `${node.toUpperCase()}.`},
      {type: 'InternalIP', address: '192.0.2.7'},
    ]
    await admin.machines.updateStatus({...made, status: {addresses}})
    const keys = await freshKeys()
    const name = nameOf(await ask(node, {keys}))
    await until(async () => {
      const events = await eventsOn(name)
      return events.some(
        ({reason, message = ''}) =>
          reason === 'NameOfMachine' && message.includes(`Machine "kube-system/${ref.name}"`),
      )
    })
    await settled()
    assert.equal(stateOf(await get(name)), 'Pending')
    await grant(node, {pin: pinIn(keys)})
    await becomes(name, 'Approved')
  })

  it('gives a name away with a token once its Machine is gone', async () => {
    const node = nodeName()
    const ref = {namespace: 'kube-system', name: `machine-${++count}`}
    const made = await admin.machines.create({metadata: ref})
    const status = {nodeRef: {kind: 'Node', name: node}}
    await admin.machines.updateStatus({...made, status})
    const name = nameOf(await ask(node))
    await until(async () => (await eventsOn(name)).some(({reason}) => reason === 'NameOfMachine'))
    await admin.machines.delete(ref)
    await becomes(name, 'Approved')
  })

  it('leaves pending what a SubjectAccessReview does not allow, and looks again once it does', async () => {
    const stranger = {username: 'stranger', groups: ['strangers', 'system:authenticated']}
    const roleRef = {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole'} as const
    const bind = (name: string, role: string) =>
      admin.clusterRoleBindings.create({
        metadata: {name},
        subjects: [{kind: 'User', apiGroup: roleRef.apiGroup, name: stranger.username}],
        roleRef: {...roleRef, name: role},
      })
    await bind('test:stranger', 'system:node-bootstrapper')
    const client = server.clientAs(stranger)
    await submit(client, {name: 'strange', commonName: `system:node:${nodeName()}`})
    await settled()
    assert.equal(stateOf(await get('strange')), 'Pending')
    await bind(
      'test:stranger-approved',
      'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    )
    await becomes('strange', 'Approved')
  })

  it('leaves requests of other signers and shapes alone', async () => {
    const other = await ask(nodeName(), {signerName: 'kubernetes.io/kube-apiserver-client'})
    const shape = await ask(nodeName(), {names: {dns: ['extra.example.com']}})
    await settled()
    for (const csr of [other, shape]) assert.equal(stateOf(await get(nameOf(csr))), 'Pending')
  })

  it('leaves what is decided alone', async () => {
    await running.close()
    const [denied, approved] = [await ask(nodeName()), await ask(nodeName())]
    const decide = (csr: CertificateSigningRequest, type: 'Approved' | 'Denied') =>
      admin.csrs.updateSubresource('approval', {
        ...csr,
        status: {conditions: [{type, status: 'True', reason: 'ByHand'}]},
      })
    await decide(denied, 'Denied')
    await decide(approved, 'Approved')
    const before = [await get(nameOf(denied)), await get(nameOf(approved))]
    start()
    await running.synced
    await settled()
    assert.deepEqual([await get(nameOf(denied)), await get(nameOf(approved))], before)
  })

  it('holds a request for the name of a Node that exists, and says so once', async () => {
    const node = nodeName()
    await admin.nodes.create({metadata: {name: node}})
    const name = nameOf(await ask(node))
    await heldAs(name, /a Node of that name exists/)
    await admin.csrs.patch(name, {metadata: {labels: {seen: 'again'}}}, {type: 'merge'})
    await settled()
    assert.equal(stateOf(await get(name)), 'Pending')
    const events = await eventsOn(name)
    assert.deepEqual(
      events.map(({type, source, involvedObject: {kind, uid}}) => ({type, source, kind, uid})),
      [
        {
          type: 'Warning',
          source: {component: 'csr-approver'},
          kind: 'CertificateSigningRequest',
          uid: (await get(name)).metadata.uid,
        },
      ],
    )
  })

  it('records who holds a name, for as long as the certificate lasts', async () => {
    const node = nodeName()
    const keys = await generateKeys('ECDSA-P256')
    await join(node, keys)
    await recorded(node, keys)
    const record = await recordOf(node)
    const left = (record?.until?.getTime() ?? 0) - clock.now().getTime()
    assert.ok(left > HOUR - 60_000 && left <= HOUR, String(left))
    assert.deepEqual(record?.object.metadata.labels, {'trustadm.io/node-certificate': ''})
  })

  it('writes the record of a new name once, for a certificate as long as it is asked for', async () => {
    const node = nodeName()
    const keys = await generateKeys('ECDSA-P256')
    const name = nameOf(await ask(node, {keys, expirationSeconds: 3600}))
    await becomes(name, 'Approved')
    const before = await admin.configMaps.get(recordKey(node))
    await sign(server, admin, name, {keys, lifetime: HOUR, clock})
    await settled()
    assert.deepEqual(await admin.configMaps.get(recordKey(node)), before)
    assert.equal(readRecord(before).holder, pinIn(keys))
    assert.equal((await get(name)).metadata.managedFields, undefined)
  })

  it('is not moved by a Lease in kube-system, which says that a key holds the name of a Node or may have it', async () => {
    const node = nodeName()
    await admin.nodes.create({metadata: {name: node}})
    const keys = await freshKeys()
    await admin.leases.create({
      metadata: {
        namespace: 'kube-system',
        name: `trustadm-node.${node}`,
        labels: {'trustadm.io/node-certificate': ''},
        annotations: {
          'trustadm.io/node-name': node,
          'trustadm.io/rejoin-allowed-until': new Date(clock.now().getTime() + HOUR).toISOString(),
          'trustadm.io/rejoin-allowed-key': pinIn(keys),
        },
      },
      spec: {holderIdentity: pinIn(keys)},
    })
    const name = nameOf(await ask(node, {keys}))
    await heldAs(name, /a Node of that name exists/)
    assert.equal(stateOf(await get(name)), 'Pending')
  })

  it('only keeps a name for its key once the request has failed', async () => {
    const node = nodeName()
    const keys = await generateKeys('ECDSA-P256')
    const name = nameOf(await ask(node, {keys}))
    await becomes(name, 'Approved')
    const csr = await get(name)
    const failed = {type: 'Failed', status: 'True', reason: 'Test'} as const
    const conditions = [...(csr.status?.conditions ?? []), failed]
    await admin.csrs.updateStatus({...csr, status: {conditions}})
    await until(async () => (await recordOf(node))?.reserved?.pin === pinIn(keys))
    assert.equal((await recordOf(node))?.holder, undefined)
  })

  it('holds a request for a name that another key has a certificate for, also when its request is gone', async () => {
    const node = nodeName()
    const keys = await generateKeys('ECDSA-P256')
    const first = await join(node, keys)
    await recorded(node, keys)
    await admin.csrs.delete(first)
    const name = nameOf(await ask(node))
    await heldAs(name, /a certificate for it is valid until \d{4}-/)
    assert.equal(stateOf(await get(name)), 'Pending')
  })

  it('gives a name again once the last certificate for it has expired', async () => {
    const node = nodeName()
    const keys = await generateKeys('ECDSA-P256')
    await join(node, keys)
    await recorded(node, keys)
    later = 2 * HOUR
    try {
      await becomes(nameOf(await ask(node)), 'Approved')
    } finally {
      later = 0
    }
  })

  it('gives a name again to the very key that holds it, also while the Node exists', async () => {
    const node = nodeName()
    const keys = await generateKeys('ECDSA-P256')
    await join(node, keys)
    await recorded(node, keys)
    await admin.nodes.create({metadata: {name: node}})
    await becomes(nameOf(await ask(node, {keys})), 'Approved')
  })

  it('records the key of a renewal, and then knows that one', async () => {
    const node = nodeName()
    const [first, second] = [await generateKeys('ECDSA-P256'), await generateKeys('ECDSA-P256')]
    await join(node, first)
    await recorded(node, first)
    const client = server.clientAs(nodeUser(node))
    const name = `renewed-${node}`
    await submit(client, {name, commonName: `system:node:${node}`, keys: second})
    await becomes(name, 'Approved')
    await sign(server, admin, name, {keys: second, lifetime: 2 * HOUR, clock})
    await recorded(node, second)
  })

  it('records to whom another approver gave the name of a node, and when, also after the node has renewed', async () => {
    const node = nodeName()
    const [own, stolen, renewed] = await Promise.all([freshKeys(), freshKeys(), freshKeys()])
    await join(node, own)
    await recorded(node, own)
    await admin.nodes.create({metadata: {name: node}})
    const joined = (await recordOf(node))?.givenAt ?? assert.fail()
    const name = nameOf(await askAs(OTHER_TOKEN, node, stolen))
    await heldAs(name, /a Node of that name exists/)
    // As kube-controller-manager does, which does not ask who has the name.
    await admin.csrs.updateSubresource('approval', {
      ...(await get(name)),
      status: {conditions: [{type: 'Approved', status: 'True', reason: 'AutoApproved'}]},
    })
    // Certificates count whole seconds.
    const in1m: Clock = {now: () => new Date(clock.now().getTime() + 60_000)}
    await sign(server, admin, name, {keys: stolen, lifetime: HOUR, clock: in1m})
    await until(async () => (await recordOf(node))?.requester === OTHER_TOKEN.username)
    const {givenAt} = (await recordOf(node)) ?? {}
    assert.ok(givenAt && givenAt > joined, String(givenAt))

    const renewal = `renewed-${node}`
    await submit(server.clientAs(nodeUser(node)), {
      name: renewal,
      commonName: `system:node:${node}`,
      keys: renewed,
    })
    await becomes(renewal, 'Approved')
    await sign(server, admin, renewal, {keys: renewed, lifetime: 2 * HOUR, clock: in1m})
    await until(async () => (await recordOf(node))?.holder === pinIn(renewed))
    assert.deepEqual((await recordOf(node))?.givenAt, givenAt)
  })

  describe('after renewals that were issued and lost', () => {
    const credential = (letter: string) => ({
      'authentication.kubernetes.io/credential-id': [`X509SHA256=${letter.repeat(64)}`],
    })
    /** Joins, and renews with the first certificate each time. Gives the key that was in use, and the lost ones. */
    async function lose(node: string, renewals = 1, letter = 'a') {
      const first = await freshKeys()
      await join(node, first)
      await recorded(node, first)
      await admin.nodes.create({metadata: {name: node}})
      const client = server.clientAs({...nodeUser(node), extra: credential(letter)})
      const lost: KeyPair[] = []
      for (let left = renewals; left > 0; left -= 1) {
        const keys = await freshKeys()
        const name = `csr-${++count}`
        await submit(client, {name, commonName: `system:node:${node}`, keys})
        await becomes(name, 'Approved')
        await sign(server, admin, name, {keys, lifetime: 2 * HOUR, clock})
        await recorded(node, keys)
        lost.push(keys)
        // A certificate counts whole seconds.
        later += 1000
      }
      return {first, lost}
    }
    afterEach(() => {
      later = 0
    })
    const report = (node: string, notBefore: Date) =>
      admin.nodes.patch(
        node,
        {
          metadata: {
            annotations: {'trustadm.io/node-trust': JSON.stringify({client: {notBefore}})},
          },
        },
        {type: 'merge'},
      )

    it('gives the name to the key that was in use, and to none of the others', async () => {
      const node = nodeName()
      const {first, lost} = await lose(node, 3)
      const [older = assert.fail()] = lost
      const stranger = nameOf(await ask(node, {keys: await freshKeys()}))
      await heldAs(stranger, /a certificate for it is valid/)
      const overwritten = nameOf(await ask(node, {keys: older}))
      await heldAs(overwritten, /a certificate for it is valid/)
      const name = nameOf(await ask(node, {keys: first}))
      await becomes(name, 'Approved')
      await sign(server, admin, name, {keys: first, lifetime: HOUR, clock})
      await recorded(node, first)
      assert.equal((await recordOf(node))?.previous, undefined)
    })

    it('gives it to that key also when the lost certificate has expired, and a stranger asked since', async () => {
      const node = nodeName()
      const {first} = await lose(node)
      later = 3 * HOUR
      const name = `csr-${++count}`
      await running.close()
      await submit(token, {name, commonName: `system:node:${node}`, keys: first})
      const stranger = nameOf(await ask(node, {keys: await freshKeys()}))
      start()
      await running.synced
      await becomes(name, 'Approved')
      assert.equal(stateOf(await get(stranger)), 'Pending')
    })

    it('gives it to that key no longer once the node reports that it uses the newest, even if the Node is deleted', async () => {
      const node = nodeName()
      const {first} = await lose(node)
      const {issuedAt} = (await recordOf(node)) ?? {}
      await report(node, new Date((issuedAt?.getTime() ?? 0) - HOUR))
      await settled()
      assert.equal((await recordOf(node))?.previous?.pin, pinIn(first))
      await report(node, issuedAt ?? assert.fail())
      await until(async () => (await recordOf(node))?.previous === undefined)
      await admin.nodes.delete(node)
      const name = nameOf(await ask(node, {keys: first}))
      await heldAs(name, /a certificate for it is valid/)
      assert.equal(stateOf(await get(name)), 'Pending')
    })

    it('gives it to that key no longer once a kubelet was alive when every older certificate had expired', async () => {
      const node = nodeName()
      const {first} = await lose(node)
      const {previous} = (await recordOf(node)) ?? {}
      const beat = new Date((previous?.until?.getTime() ?? 0) + 1000).toISOString()
      const conditions = [{type: 'Ready', status: 'True', lastHeartbeatTime: beat}]
      await admin.nodes.patch(node, {status: {conditions}}, {type: 'merge', subresource: 'status'})
      const name = nameOf(await ask(node, {keys: first}))
      await heldAs(name, /a Node of that name exists/)
    })

    it('never gives it to that key if its certificate was revoked, nor if everything of the node was', async () => {
      const list = {namespace: 'kube-system', name: 'trustadm-revoked-certificates'}
      const issued = () => issueTime(clock.now())
      for (const [letter, entry] of [
        ['b', () => ({[keyRevocation('sha256:'.padEnd(71, 'f'))]: {fingerprint: 'b'.repeat(64)}})],
        ['c', (node: string) => ({[userRevocation(nodeUser(node).username, issued())]: {}})],
      ] as const) {
        const node = nodeName()
        const {first} = await lose(node, 1, letter)
        const data = Object.fromEntries(
          Object.entries(entry(node)).map(([id, details]) => [id, JSON.stringify(details)]),
        )
        await admin.configMaps.patch(list, {data}, {type: 'merge'})
        const name = nameOf(await ask(node, {keys: first}))
        await until(async () => (await eventsOn(name)).some(({reason}) => reason === 'Revoked'))
        assert.equal(stateOf(await get(name)), 'Pending')
      }
    })
  })

  it('lets one machine re-join by an operator’s grant, and only one', async () => {
    const node = nodeName()
    await admin.nodes.create({metadata: {name: node}})
    const keys = await freshKeys()
    const first = nameOf(await ask(node, {keys}))
    await heldAs(first, /a Node of that name exists/)
    await grant(node, {pin: pinIn(keys)})
    await becomes(first, 'Approved')
    const record = await admin.configMaps.get(recordKey(node))
    assert.equal(hasGrant(record), false)
    assert.equal(record.data?.holder, undefined)
    const second = nameOf(await ask(node, {keys: await generateKeys('ECDSA-P256')}))
    await heldAs(second, new RegExp(`request "${first}" of that name was approved`))
    assert.equal(stateOf(await get(second)), 'Pending')
  })

  it('lets another key have the name of a Node that is Unknown, once allow-rejoin names the key', async () => {
    const node = nodeName()
    const keys = await freshKeys()
    await join(node, keys)
    await recorded(node, keys)
    const conditions = [{type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown'}]
    await admin.nodes.create({metadata: {name: node}, status: {conditions}})
    const other = await freshKeys()
    const name = nameOf(await ask(node, {keys: other}))
    await heldAs(name, /a Node of that name exists|a certificate for it is valid/)
    const allowed = await allowRejoin(admin, node, {ttl: HOUR, pin: pinIn(other)}, clock)
    assert.equal(allowed?.request, name)
    await becomes(name, 'Approved')
  })

  it('lets the machine in that a grant was used up for, also when its approval fails at first', async () => {
    const node = nodeName()
    await admin.nodes.create({metadata: {name: node}})
    await grantNext(node)
    await running.close()
    let failures = 0
    start((writer) => {
      const {csrs} = writer
      const updateSubresource: typeof csrs.updateSubresource = async (...call) => {
        if (failures++ === 0) throw new TrustError('SERVER_ERROR', 'not now')
        return await csrs.updateSubresource(...call)
      }
      const failing = Object.create(csrs, {updateSubresource: {value: updateSubresource}})
      return {...writer, csrs: failing as typeof csrs}
    })
    await running.synced
    await becomes(nameOf(await ask(node)), 'Approved')
    assert.equal((await recordOf(node))?.grant, undefined)
    assert.match(errors.pop() ?? '', /not now/)
  })

  it('does not take a grant that has expired', async () => {
    const node = nodeName()
    await admin.nodes.create({metadata: {name: node}})
    const keys = await freshKeys()
    await grant(node, {pin: pinIn(keys)}, -1000)
    const name = nameOf(await ask(node, {keys}))
    await heldAs(name, /a Node of that name exists/)
    assert.equal(stateOf(await get(name)), 'Pending')
  })

  it('uses a grant up for a name that is free too, so that none is left for others', async () => {
    const node = nodeName()
    await grantNext(node)
    await becomes(nameOf(await ask(node)), 'Approved')
    assert.equal((await recordOf(node))?.grant, undefined)
  })

  it('approves one of many requests that ask for one new name at the same time', async () => {
    const node = nodeName()
    const keys = await Promise.all(Array.from({length: 10}, () => generateKeys('ECDSA-P256')))
    const names = (await Promise.all(keys.map((one) => ask(node, {keys: one})))).map(nameOf)
    await until(async () => {
      const events = await Promise.all(names.map(eventsOn))
      return events.filter(({length}) => length > 0).length >= names.length - 1
    })
    const statesNow = () => Promise.all(names.map(async (name) => stateOf(await get(name))))
    await until(async () => (await statesNow()).includes('Approved'))
    const states = await statesNow()
    assert.equal(states.filter((state) => state === 'Approved').length, 1)
    assert.equal(states.filter((state) => state === 'Pending').length, names.length - 1)
  })

  it('gives a name to one key though two approvers work at once, and neither has seen what the other sees', async () => {
    await running.close()
    const node = nodeName()
    const names = [
      nameOf(await ask(node)),
      nameOf(await ask(node, {keys: await generateKeys('ECDSA-P256')})),
    ]
    const reader = server.clientAs({username: 'system:kube-controller-manager', groups: []})
    const blind = names.map((name) => {
      const {csrs} = reader
      const list: typeof csrs.list = async (...call) => {
        const all = await csrs.list(...call)
        return {...all, items: all.items.filter(({metadata}) => metadata.name === name)}
      }
      const watch: typeof csrs.watch = async function* ({signal} = {}) {
        await sleep(60_000, signal)
        yield* csrs.watch()
      }
      const limited = Object.create(csrs, {
        list: {value: list},
        watch: {value: watch},
        watchBatches: {value: undefined},
      })
      return startController(
        csrApproverController(
          {...reader, csrs: limited as typeof csrs},
          server.clientAs({username: ACCOUNT, groups: ['system:serviceaccounts']}),
          {clock},
        ),
        (controller, key, error) => errors.push(`${controller} ${key}: ${String(error)}`),
      )
    })
    try {
      await until(async () => {
        const events = await Promise.all(names.map(eventsOn))
        const approved = await Promise.all(names.map(async (one) => stateOf(await get(one))))
        return events.flat().length + approved.filter((state) => state === 'Approved').length >= 2
      })
      const states = await Promise.all(names.map(async (name) => stateOf(await get(name))))
      assert.deepEqual(states.sort(), ['Approved', 'Pending'])
    } finally {
      await Promise.all(blind.map((one) => one.close()))
      start()
      await running.synced
    }
  })

  it('has a record before it approves, so that a certificate is known though its request is gone at once', async () => {
    const node = nodeName()
    const name = nameOf(await ask(node))
    await becomes(name, 'Approved')
    await admin.csrs.delete(name)
    const other = nameOf(await ask(node, {keys: await generateKeys('ECDSA-P256')}))
    await heldAs(other, /it is kept for another key/)
    assert.equal(stateOf(await get(other)), 'Pending')
  })

  it('does not let in an attacker who asked for the name before the operator allowed a key', async () => {
    const node = nodeName()
    await admin.nodes.create({metadata: {name: node}})
    const keys = await freshKeys()
    const attacker = nameOf(await ask(node, {keys: await freshKeys()}))
    const machine = nameOf(await ask(node, {keys}))
    const later = nameOf(await ask(node, {keys: await freshKeys()}))
    await grant(node, {pin: pinIn(keys)})
    await becomes(machine, 'Approved')
    await settled()
    for (const name of [attacker, later]) assert.equal(stateOf(await get(name)), 'Pending')
  })

  it('does not let in an attacker who asked before the operator allowed the next request', async () => {
    const node = nodeName()
    await admin.nodes.create({metadata: {name: node}})
    const attacker = nameOf(await ask(node, {keys: await freshKeys()}))
    await grantNext(node)
    await heldAs(attacker, /only the next request that "system:bootstrap:abcdef" makes after/)
    await becomes(nameOf(await ask(node, {keys: await freshKeys()})), 'Approved')
    assert.equal(stateOf(await get(attacker)), 'Pending')
  })

  it('does not let in an attacker who asks after the grant with another token', async () => {
    const node = nodeName()
    await admin.nodes.create({metadata: {name: node}})
    await grantNext(node)
    const attacker = nameOf(await askAs(OTHER_TOKEN, node, await freshKeys()))
    await heldAs(attacker, /only the next request that "system:bootstrap:abcdef" makes after/)
    await becomes(nameOf(await ask(node)), 'Approved')
    assert.equal(stateOf(await get(attacker)), 'Pending')
  })

  it('does not let in an attacker who asks after the grant with another key, even for a name that is free', async () => {
    const node = nodeName()
    const keys = await freshKeys()
    await grant(node, {pin: pinIn(keys)})
    const attacker = nameOf(await ask(node, {keys: await freshKeys()}))
    await heldAs(attacker, /an operator allows only the key sha256:/)
    await becomes(nameOf(await ask(node, {keys})), 'Approved')
    assert.equal(stateOf(await get(attacker)), 'Pending')
  })

  it('remembers who asked for a name, for a later grant', async () => {
    const node = nodeName()
    const keys = await freshKeys()
    await join(node, keys)
    await recorded(node, keys)
    assert.equal((await recordOf(node))?.requester, BOOTSTRAPPER.username)
  })

  it('approves the newest key of a kubelet that was set up again, and says so at the old one', async () => {
    const node = nodeName()
    await running.close()
    const dead = nameOf(await ask(node, {keys: await freshKeys()}))
    const alive = nameOf(await ask(node, {keys: await freshKeys()}))
    // A request that can never be approved supersedes nothing.
    await ask(node, {keys: await freshKeys(), names: {dns: ['extra.example.com']}})
    start()
    await becomes(alive, 'Approved')
    await until(async () =>
      (await eventsOn(dead)).some(({message = ''}) => message.includes(alive)),
    )
    assert.equal(stateOf(await get(dead)), 'Pending')
  })

  it('approves many names side by side', async () => {
    const asked = await Promise.all(Array.from({length: 100}, () => ask(nodeName())))
    for (const csr of asked) await becomes(nameOf(csr), 'Approved')
  })

  it('holds names that no Node can have', async () => {
    const name = nameOf(await ask('Not a Name'))
    await heldAs(name, /no node can have the name/)
    assert.equal(stateOf(await get(name)), 'Pending')
  })

  describe('with revoked certificates', () => {
    const LIST = {namespace: 'kube-system', name: 'trustadm-revoked-certificates'}
    const setList = (data: Record<string, string | null>) =>
      admin.configMaps.patch(LIST, {data}, {type: 'merge'})
    const selfOf = (node: string, extra: Record<string, string[]> = {}) =>
      server.clientAs({
        username: `system:node:${node}`,
        groups: ['system:nodes', 'system:authenticated'],
        extra,
      })
    const heldAsRevoked = (name: string, message: RegExp) =>
      until(async () => {
        const events = await eventsOn(name)
        return events.some((one) => one.reason === 'Revoked' && message.test(one.message ?? ''))
      })

    it('holds a request for a revoked key, also of a node, until the key leaves the list', async () => {
      const [node, keys] = [nodeName(), await freshKeys()]
      await join(node, keys)
      const id = keyRevocation(pinIn(keys))
      await setList({[id]: '{"reason":"stolen"}'})
      const wish = {commonName: `system:node:${node}`, keys}
      const names: string[] = []
      for (const client of [token, selfOf(node)]) {
        const name = nameOf(await submit(client, {...wish, name: `csr-${++count}`}))
        await heldAsRevoked(name, /^left pending: its key is revoked: stolen$/)
        assert.equal(stateOf(await get(name)), 'Pending')
        names.push(name)
      }
      await setList({[id]: null})
      for (const name of names) await becomes(name, 'Approved')
    })

    it('holds a request that was made with a certificate that is revoked by now', async () => {
      const node = nodeName()
      const fingerprint = 'ab'.repeat(32)
      await setList({[keyRevocation(`sha256:${'cd'.repeat(32)}`)]: JSON.stringify({fingerprint})})
      const self = selfOf(node, {
        'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`],
      })
      const wish = {name: `csr-${++count}`, commonName: `system:node:${node}`}
      const name = nameOf(await submit(self, wish))
      await heldAsRevoked(name, /the certificate that it was requested with is revoked$/)
      assert.equal(stateOf(await get(name)), 'Pending')
    })

    it('holds all requests that a token made before everything of it was revoked, and no newer one', async () => {
      const node = nodeName()
      await admin.nodes.create({metadata: {name: node}})
      const waiting = nameOf(await askAs(OTHER_TOKEN, node, await freshKeys()))
      await heldAs(waiting, /a Node of that name exists/)
      const made = (await get(waiting)).metadata.creationTimestamp ?? ''
      await setList({[userRevocation(OTHER_TOKEN.username, new Date(made))]: '{}'})
      await heldAsRevoked(waiting, /everything that the requester had at that time is revoked$/)
      await admin.nodes.delete(node)
      // Times of creation are whole seconds.
      await until(() => Promise.resolve(Date.now() >= Date.parse(made) + 1000))
      await becomes(nameOf(await askAs(OTHER_TOKEN, nodeName(), await freshKeys())), 'Approved')
      assert.equal(stateOf(await get(waiting)), 'Pending')
    })

    it('gives a node’s key no other certificate by a token once everything of the node is revoked', async () => {
      const [node, keys] = [nodeName(), await freshKeys()]
      await join(node, keys)
      await recorded(node, keys)
      const issued = (await recordOf(node))?.issuedAt ?? assert.fail()
      await setList({[userRevocation(`system:node:${node}`, issueTime(issued))]: '{}'})
      const name = nameOf(await ask(node, {keys}))
      await heldAsRevoked(name, /the certificate that its key has is revoked$/)
      assert.equal(stateOf(await get(name)), 'Pending')
      // The machine is let in again with another key.
      const next = await freshKeys()
      await grant(node, {pin: pinIn(next)})
      await becomes(nameOf(await ask(node, {keys: next})), 'Approved')
    })

    it('holds a request that waits if the list names only the key that it was made with', async () => {
      const node = nodeName()
      await admin.nodes.create({metadata: {name: node}})
      const {groups} = BOOTSTRAPPER
      const clientCertificate = await server.credentialsFor('robot', groups)
      const robot = connectTo({server: server.url, ca: server.ca, clientCertificate})
      const key = pinOf(parseCertificate(clientCertificate.certificate))
      try {
        const {spec, metadata} = await wished({
          name: `csr-${++count}`,
          commonName: `system:node:${node}`,
        })
        const forged = {'trustadm.io/caller-key': [`sha256:${'0'.repeat(64)}`]}
        const made = await robot.csrs.create({metadata, spec: {...spec, extra: forged}})
        assert.deepEqual(made.spec.extra?.['trustadm.io/caller-key'], [key])
        const name = nameOf(made)
        await heldAs(name, /a Node of that name exists/)
        await setList({[keyRevocation(key)]: '{}'})
        await heldAsRevoked(name, /the key that it was requested with is revoked$/)
        await admin.nodes.delete(node)
        await settled()
        assert.equal(stateOf(await get(name)), 'Pending')
      } finally {
        await robot.close()
      }
    })
  })
})
