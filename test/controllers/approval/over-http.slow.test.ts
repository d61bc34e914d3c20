import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import type {UserInfo} from '../../../src/api/meta.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {connectTo} from '../../../src/client/connect.ts'
import {
  startController,
  type RunningController,
} from '../../../src/controllers/kernel/controller.ts'
import {csrApproverController} from '../../../src/controllers/csr-approver.ts'
import {kubeletServingApproverController} from '../../../src/controllers/kubelet-serving-approver.ts'
import {APPROVED, findCondition} from '../../../src/csr/conditions.ts'
import {hasCode} from '../../../src/errors.ts'
import {systemClock} from '../../../src/runtime.ts'
import {startTestServer, type Credentials, type TestServer} from '../../helpers/test-server.ts'
import {until} from '../../server/support.ts'
import {CLIENT_CASES} from './client-cases.ts'
import {SERVING_BASE, machine} from './serving-case.ts'
import {SERVING_CASES} from './serving-cases.ts'
import {clusterConfig, wished, type Wish} from './support.ts'

const NAMESPACE = 'machines'
const PREFIX = 'system:certificates.k8s.io:certificatesigningrequests'
const RBAC = 'rbac.authorization.k8s.io'

describe('approvers, over HTTP', () => {
  let server: TestServer
  let credentials: Credentials
  let admin: ApiClient
  let running: RunningController[] = []
  let count = 0
  const problems: string[] = []

  /** One for each who asks: what a handshake costs is not what is tested. */
  const clients = new Map<string, ApiClient>()

  /** A client over TLS, as the administrator or by impersonation as somebody else. */
  const clientOf = (impersonate?: UserInfo): ApiClient => {
    const key = JSON.stringify(impersonate ?? 'admin')
    const {url, ca} = server
    const client =
      clients.get(key) ?? connectTo({server: url, ca, clientCertificate: credentials, impersonate})
    clients.set(key, client)
    return client
  }

  const bind = (role: string, group: string) =>
    admin.clusterRoleBindings.create({
      metadata: {name: `${role}-for-${group}`},
      roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: role},
      subjects: [{apiGroup: RBAC, kind: 'Group', name: group}],
    })

  before(async () => {
    server = await startTestServer({controllers: false})
    credentials = await server.credentialsFor('admin', ['system:masters'])
    admin = clientOf()
    await admin.namespaces.create({metadata: {name: NAMESPACE}})
    await admin.configMaps.create(clusterConfig)
    for (const group of ['may-nodeclient', 'may-selfnodeclient', 'may-ask']) {
      await bind('system:node-bootstrapper', group)
    }
    await bind(`${PREFIX}:nodeclient`, 'may-nodeclient')
    await bind(`${PREFIX}:selfnodeclient`, 'may-selfnodeclient')
    running = [
      csrApproverController(admin, admin, {clock: systemClock}),
      kubeletServingApproverController(admin, admin, {clock: systemClock}),
    ].map((spec) =>
      startController(spec, (name, key, error) =>
        problems.push(`${name} ${key}: ${String(error)}`),
      ),
    )
    await Promise.all(running.map(({synced}) => synced))
  })
  after(async () => {
    await Promise.all(running.map((one) => one.close()))
    await Promise.all(Array.from(clients.values(), (client) => client.close()))
    await server.stop()
    assert.deepEqual(problems, [])
  })

  const isApproved = async (name: string) =>
    findCondition(await admin.csrs.get(name), APPROVED) !== undefined

  async function send(wish: Wish, groups: string[]): Promise<string> {
    const {spec} = await wished(wish)
    const {request, signerName, usages = [], username = ''} = spec
    const csr: CertificateSigningRequest = {
      metadata: {name: `r${(count += 1)}`},
      spec: {request, signerName, usages},
    }
    return (await clientOf({username, groups}).csrs.create(csr)).metadata.name ?? ''
  }

  /** Whoever came later was seen to: then this one was seen too. */
  async function afterOthers(): Promise<void> {
    const later = await send({commonName: `system:node:later-${count}`}, ['may-nodeclient'])
    await until(() => isApproved(later))
  }

  for (const {name, wish, ...expected} of CLIENT_CASES) {
    for (const approver of ['selfnodeclient', 'nodeclient'] as const) {
      for (const without of [false, true]) {
        const usages = (wish.usages ?? ['key encipherment', 'digital signature', 'client auth'])
          // Every case of the table is run in both forms.
          .filter((usage) => !without || usage !== 'key encipherment')
        const form = without ? ', without key encipherment' : ''
        const verb = expected[approver] ? 'approves' : 'leaves alone'
        it(`${approver} ${verb} ${name}${form}`, async () => {
          const request = await send({...wish, usages}, [`may-${approver}`])
          if (expected[approver]) await until(() => isApproved(request))
          else {
            await afterOthers()
            assert.equal(await isApproved(request), false)
          }
          await admin.csrs.delete(request)
        })
      }
    }
  }

  /** Groups as they are after authentication: nobody can leave out that they are known, unless they are not. */
  const groupsOf = ({groups = SERVING_BASE.groups ?? []}: Wish): string[] => [
    'may-ask',
    ...groups,
    ...(groups.includes('system:authenticated') ? [] : ['system:unauthenticated']),
  ]

  // Where a server sees a node is always loopback here, and the approver has no policy.
  const rows = SERVING_CASES.filter(({seenAt, policy}) => !seenAt && !policy)
  for (const row of rows) {
    const {name, decision, machines = [machine('test')], node, others = []} = row
    const nodes = [...others, ...(node ? [node] : [])]
    it(`kubelet-serving ${decision === 'approve' ? 'approves' : 'does not approve'} where ${name}`, async () => {
      const wish = {...SERVING_BASE, ...row.wish}
      for (const one of machines) {
        const made = await admin.machines.create({
          metadata: {namespace: NAMESPACE, name: one.metadata.name ?? ''},
        })
        await admin.machines.updateStatus({...made, ...(one.status && {status: one.status})})
      }
      for (const one of nodes) await admin.nodes.create(one)
      let request: string | undefined
      try {
        request = await send(wish, groupsOf(wish))
      } catch (error) {
        // What the server itself refuses needs no approver.
        if (!hasCode(error, 'INVALID', 'FORBIDDEN')) throw error
        assert.notEqual(decision, 'approve', error.message)
      }
      if (request !== undefined) {
        const asked = request
        if (decision === 'approve') await until(() => isApproved(asked))
        else {
          await afterOthers()
          assert.equal(await isApproved(asked), false)
        }
        await admin.csrs.delete(asked)
      }
      await admin.machines.deleteCollection({namespace: NAMESPACE})
      for (const {metadata} of nodes) await admin.nodes.delete(metadata.name ?? '')
    })
  }

  it('kubelet-serving does not approve what is no request', async () => {
    const request = Buffer.from('-----BEGIN??\n').toString('base64')
    const spec = {request, signerName: SERVING_BASE.signerName ?? '', usages: ['server auth']}
    await assert.rejects(admin.csrs.create({metadata: {name: 'none'}, spec}), {code: 'INVALID'})
  })
})
