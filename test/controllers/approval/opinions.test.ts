import assert from 'node:assert/strict'
import {isDeepStrictEqual} from 'node:util'
import type {ApiClient} from '../../../src/client/api-client.ts'
import type {ObjectRef} from '../../../src/client/resource-client.ts'
import {approverOpinions} from '../../../src/controllers/approval/opinions.ts'
import {indexOf} from '../../../src/controllers/approval/opinion-reader.ts'
import {grantRejoin, saveIssued} from '../../../src/controllers/approval/record-store.ts'
import {objections, type ApproverOpinion} from '../../../src/csr/opinion.ts'
import {CREDENTIAL_ID} from '../../../src/csr/user-extra.ts'
import {TrustError} from '../../../src/errors.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {systemClock} from '../../../src/runtime.ts'
import {
  encodeRevocation,
  REVOCATION_NAMES,
  REVOCATION_NAMESPACE,
  tokenRevocation,
} from '../../../src/trust/revocations.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {bootstrapper, foreignCredential} from './machine-cases.ts'
import {
  BOOTSTRAPPER,
  SERVING,
  SERVING_USAGES,
  bindApprovals,
  clusterConfig,
  createBootstrapperToken,
  nodeUser,
  readable,
  sign,
  submit,
  withEndpoints,
  type Wish,
} from './support.ts'

const LIST = {namespace: REVOCATION_NAMESPACE, name: REVOCATION_NAMES[0] ?? ''}

describe('approverOpinions', () => {
  let server: TestServer
  let admin: ApiClient
  let count = 0

  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    await bindApprovals(admin)
    await admin.configMaps.create(clusterConfig)
    await createBootstrapperToken(admin)
  })
  after(() => server.stop())

  const nodeName = () => `g${++count}`
  const ask = async (node: string, wish: Wish = {}, user = BOOTSTRAPPER) =>
    await submit(server.clientAs(user), {
      name: `g-csr-${++count}`,
      commonName: `system:node:${node}`,
      ...wish,
    })
  const opinions = async (
    csr: Awaited<ReturnType<typeof ask>>,
    client: ApiClient = admin,
  ): Promise<Record<string, ApproverOpinion>> => {
    const all = await approverOpinions(client, csr, {clock: systemClock})
    return Object.fromEntries(all.map((one) => [one.approver, one]))
  }
  const decisions = (all: Record<string, ApproverOpinion>) =>
    Object.fromEntries(Object.entries(all).map(([name, {decision}]) => [name, decision]))

  it('finds a new machine’s request right', async () => {
    assert.deepEqual(decisions(await opinions(await ask(nodeName()))), {
      selfnodeclient: 'ignore',
      nodeclient: 'approve',
      'machine-approver': 'ignore',
      'kubelet-serving': 'ignore',
    })
  })

  it('finds a Node, another approved request and a grant', async () => {
    const node = nodeName()
    await admin.nodes.create({metadata: {name: node}})
    const first = await ask(node)
    await admin.csrs.updateSubresource('approval', {
      ...first,
      status: {conditions: [{type: 'Approved', status: 'True', reason: 'ByHand'}]},
    })
    const second = await ask(node, {keys: await generateKeys('ECDSA-P256')})
    const {nodeclient} = await opinions(second)
    assert.equal(nodeclient?.decision, 'hold')
    assert.equal(nodeclient.reason, 'NodeNameTaken')
    assert.match(objections(nodeclient), /a Node of that name exists, and request "g-csr-/)
    const {pin} = readable(second)
    await grantRejoin(admin, node, {until: new Date(Date.now() + 60_000), to: {pin}})
    assert.equal((await opinions(second)).nodeclient?.decision, 'approve')
  })

  it('finds the newer request of the same requester, among those of others and for other names', async () => {
    const node = nodeName()
    const newKeys = () => generateKeys('ECDSA-P256')
    const first = await ask(node)
    await ask(nodeName(), {keys: await newKeys()})
    const other = {...BOOTSTRAPPER, username: 'system:bootstrap:ghijkl'}
    await ask(node, {keys: await newKeys()}, other)
    assert.equal((await opinions(first)).nodeclient?.decision, 'approve')
    const second = await ask(node, {keys: await newKeys()})
    const {nodeclient} = await opinions(first)
    assert.equal(nodeclient?.decision, 'hold')
    assert.equal(nodeclient.reason, 'Superseded')
    const name = second.metadata.name ?? ''
    assert.equal(objections(nodeclient), `superseded by request "${name}" of the same requester`)
    assert.equal((await opinions(second)).nodeclient?.decision, 'approve')
  })

  it('finds the Node that vouches for a serving request, also without a Machine API', async () => {
    const node = nodeName()
    await admin.nodes.create({metadata: {name: node}})
    await admin.nodes.patch(
      node,
      {status: {addresses: [{type: 'Hostname', address: node}]}},
      {type: 'merge', subresource: 'status'},
    )
    const serving = {signerName: SERVING, usages: SERVING_USAGES}
    const good = await ask(node, {...serving, names: {dns: [node]}}, nodeUser(node))
    const bad = await ask(node, {...serving, names: {dns: ['evil']}}, nodeUser(node))
    const list = () => Promise.reject(new TrustError('NOT_FOUND', '404 page not found'))
    const withoutMachines = {...admin, machines: {...admin.machines, list}}
    for (const client of [admin, withoutMachines]) {
      assert.equal((await opinions(good, client))['kubelet-serving']?.decision, 'approve')
      assert.equal((await opinions(bad, client))['kubelet-serving']?.decision, 'hold')
    }
  })

  it('finds to whom the name of a node that is an API server was given, by requests and by the record', async () => {
    const node = nodeName()
    const address = '192.168.3.1'
    await admin.nodes.create({
      metadata: {name: node, labels: {'node-role.kubernetes.io/control-plane': ''}},
    })
    await admin.nodes.patch(
      node,
      {status: {addresses: [{type: 'InternalIP', address}]}},
      {type: 'merge', subresource: 'status'},
    )
    const wish = {signerName: SERVING, usages: SERVING_USAGES, names: {dns: [node], ips: [address]}}
    const serving = await ask(node, wish, nodeUser(node))
    const client = withEndpoints(admin, [address])
    const kept = async (reader = client) => {
      const {decision, rules} =
        (await opinions(serving, reader))['kubelet-serving'] ?? assert.fail()
      return {decision, ...rules.find(({code}) => code === 'name-kept')}
    }
    const before = await kept()
    assert.deepEqual([before.decision, before.holds], ['approve', true], before.reason)

    const keys = await generateKeys('ECDSA-P256')
    const taken = await ask(node, {keys})
    await admin.csrs.updateSubresource('approval', {
      ...taken,
      status: {conditions: [{type: 'Approved', status: 'True', reason: 'AutoApproved'}]},
    })
    const name = taken.metadata.name ?? ''
    await sign(server, admin, name, {keys, lifetime: 3_600_000, clock: systemClock})
    const says = /was given to "system:bootstrap:abcdef" at \S+Z, after the Node was registered/
    const byRequest = await kept()
    assert.equal(byRequest.decision, 'hold')
    assert.match(byRequest.reason ?? '', says)

    const [issued] = indexOf(admin, [await admin.csrs.get(name)], [node]).issuedFor(node)
    await saveIssued(admin, node, issued ?? assert.fail(), {now: systemClock.now()})
    await admin.csrs.delete(name)
    const byRecord = await kept()
    assert.deepEqual(byRecord, byRequest)

    const find = () => Promise.reject(new TrustError('FORBIDDEN', 'it may not be read'))
    const blind = {
      ...client,
      configMaps: {
        ...client.configMaps,
        find: (ref: ObjectRef) =>
          typeof ref !== 'string' && ref.namespace === 'trustadm-system'
            ? find()
            : client.configMaps.find(ref),
      },
    }
    const unknown = await kept(blind)
    assert.deepEqual([unknown.decision, unknown.reason], ['hold', 'not known: it may not be read'])
  })

  it('finds the Machine of a fleet’s request, its rivals, and what waits', async () => {
    const node = nodeName()
    const fleet = bootstrapper()
    await admin.clusterRoleBindings.create({
      metadata: {name: 'fleet'},
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:node-bootstrapper',
      },
      subjects: [{kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: fleet.username}],
    })
    await admin.secrets.create(foreignCredential())
    const first = await ask(node, {}, fleet)
    const missing = (await opinions(first))['machine-approver']
    assert.equal(missing?.reason, 'NoMachine')
    const made = await admin.machines.create({metadata: {name: node, namespace: 'default'}})
    const addresses = [{type: 'InternalDNS', address: node}]
    await admin.machines.updateStatus({...made, status: {addresses}})
    assert.equal((await opinions(first))['machine-approver']?.decision, 'approve')
    const rules = (await opinions(first))['machine-approver']?.rules ?? []
    assert.deepEqual(
      rules.slice(5).map(({code}) => code),
      [
        'requester-is-no-node',
        'requester-is-bootstrapper',
        'requester-groups',
        'request-count',
        'node-absent',
        'machine-found',
        'machine-unused',
        'machine-expected',
        'node-name',
        'only-key',
        'live-credential',
        'not-revoked',
      ],
    )
    const second = await ask(node, {keys: await generateKeys('ECDSA-P256')}, fleet)
    const rivals = (await opinions(first))['machine-approver']
    assert.equal(rivals?.reason, 'SeveralKeys')
    assert.ok(objections(rivals).includes(`"${second.metadata.name ?? ''}"`))
    await admin.secrets.delete('kube-system/node-bootstrapper-token')
    const revoked = (await opinions(first))['machine-approver']
    assert.deepEqual([revoked?.decision, revoked?.reason], ['hold', 'CredentialRevoked'])
    const {configMaps} = admin
    const data = Object.fromEntries([encodeRevocation({id: tokenRevocation('stolen')})])
    const remembering = {
      ...admin,
      configMaps: {
        ...configMaps,
        find: async (...ref: Parameters<typeof configMaps.find>) =>
          isDeepStrictEqual(ref[0], LIST) ? {metadata: LIST, data} : configMaps.find(...ref),
      },
    }
    const stolen = {...first, spec: {...first.spec, extra: {[CREDENTIAL_ID]: ['JTI=stolen']}}}
    const remembered = (await opinions(stolen, remembering))['machine-approver']!
    assert.equal(remembered.decision, 'hold')
    assert.match(objections(remembered), /the token that it was requested with is revoked/)

    const list = () => Promise.reject(new TrustError('NOT_FOUND', '404 page not found'))
    const off = await opinions(first, {...admin, machines: {...admin.machines, list}})
    assert.match(objections(off['machine-approver']!), /does not serve Machines/)
  })

  it('ignores what cannot be read', async () => {
    const request = Buffer.from('-----BEGIN??').toString('base64')
    const csr = {metadata: {name: 'x'}, spec: {request, signerName: SERVING, usages: []}}
    assert.deepEqual(Object.values(decisions(await opinions(csr))), Array(4).fill('ignore'))
  })

  it('says what the caller may not find out', async () => {
    const csr = await ask(nodeName())
    const {nodeclient} = await opinions(csr, server.clientAs(BOOTSTRAPPER))
    assert.equal(nodeclient?.decision, 'hold')
    assert.match(
      objections(nodeclient),
      /not known: .*cannot create resource "subjectaccessreviews"/,
    )
  })
})
