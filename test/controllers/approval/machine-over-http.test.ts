import assert from 'node:assert/strict'
import type {UserInfo} from '../../../src/api/meta.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {connectTo} from '../../../src/client/connect.ts'
import {machineApproverController} from '../../../src/controllers/machine-approver.ts'
import {
  startController,
  type RunningController,
} from '../../../src/controllers/kernel/controller.ts'
import {
  BOOTSTRAPPER_NAMESPACES,
  OPENSHIFT_BOOTSTRAPPER_NAMESPACE,
} from '../../../src/csr/bootstrapper.ts'
import {stateOf} from '../../../src/csr/conditions.ts'
import type {Clock} from '../../../src/runtime.ts'
import {startTestServer, type Credentials, type TestServer} from '../../helpers/test-server.ts'
import {until} from '../../server/support.ts'
import {
  MACHINE_CASES,
  bootstrapper,
  foreignCredential,
  machineOf,
  type MachineCase,
} from './machine-cases.ts'
import {wished, type Wish} from './support.ts'

const NAMESPACE = 'machines'
const RBAC = 'rbac.authorization.k8s.io'

describe('machine-approver, over HTTP', () => {
  let server: TestServer
  let credentials: Credentials
  let admin: ApiClient
  let running: RunningController
  let count = 0
  let later = 0
  const clock: Clock = {now: () => new Date(Date.now() + later)}
  const problems: string[] = []

  /** A client over TLS, as the administrator or by impersonation as somebody else. */
  const clientOf = (impersonate?: UserInfo): ApiClient =>
    connectTo({server: server.url, ca: server.ca, clientCertificate: credentials, impersonate})

  before(async () => {
    server = await startTestServer({controllers: false, clock})
    credentials = await server.credentialsFor('admin', ['system:masters'])
    admin = clientOf()
    await admin.namespaces.create({metadata: {name: NAMESPACE}})
    await admin.namespaces.create({metadata: {name: OPENSHIFT_BOOTSTRAPPER_NAMESPACE}})
    for (const namespace of BOOTSTRAPPER_NAMESPACES) {
      await admin.secrets.create(foreignCredential(namespace))
    }
    await admin.clusterRoleBindings.create({
      metadata: {name: 'may-ask'},
      roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name: 'system:node-bootstrapper'},
      subjects: [{apiGroup: RBAC, kind: 'Group', name: 'system:authenticated'}],
    })
    running = startController(
      machineApproverController(admin, admin, {clock}),
      (name, key, error) => problems.push(`${name} ${key}: ${String(error)}`),
    )
    await running.synced
  })
  after(async () => {
    await running.close()
    await admin.close()
    await server.stop()
    assert.deepEqual(problems, [])
  })

  const isApproved = async (name: string) => stateOf(await admin.csrs.get(name)) === 'Approved'

  async function send(wish: Wish): Promise<string> {
    const {username, groups} = {...bootstrapper(), ...wish}
    const {spec} = await wished(wish)
    const {request, signerName, usages = []} = spec
    const client = clientOf({username, groups})
    try {
      const name = `r${(count += 1)}`
      await client.csrs.create({metadata: {name}, spec: {request, signerName, usages}})
      return name
    } finally {
      await client.close()
    }
  }

  async function create(machines: ReturnType<NonNullable<MachineCase['machines']>>): Promise<void> {
    for (const {metadata, status = {}} of machines) {
      const made = await admin.machines.create({
        metadata: {...metadata, namespace: NAMESPACE},
      })
      await admin.machines.updateStatus({...made, status})
    }
  }

  const hasEvent = async (name: string, reason: string) => {
    const fieldSelector = `involvedObject.name=${name},reason=${reason}`
    return (await admin.events.list({namespace: 'default', fieldSelector})).items.length > 0
  }

  /** Whoever came later was seen to: then this one was seen too. */
  async function afterOthers(): Promise<void> {
    const node = `later-${count}`
    await create([machineOf(node)])
    const request = await send({commonName: `system:node:${node}`})
    await until(() => isApproved(request))
  }

  for (const row of MACHINE_CASES) {
    const {name, decision, held, after = 0} = row
    it(`${decision === 'approve' ? 'approves' : 'does not approve'} where ${name}`, async () => {
      const node = `panda-${(count += 1)}`
      const machines = row.machines?.(node) ?? [
        machineOf('m', [{type: 'InternalDNS', address: node}]),
      ]
      const nodes = row.nodes?.(node) ?? []
      for (const one of nodes) await admin.nodes.create({metadata: {name: one}})
      const ask = () => send({commonName: `system:node:${node}`, ...row.wish?.(node)})
      let request = ''
      if (after < 0) request = await ask()
      else await create(machines)
      later += Math.abs(after)
      if (after < 0) await create(machines)
      else request = await ask()
      if (decision === 'approve') await until(() => isApproved(request))
      else if (held !== undefined) await until(() => hasEvent(request, held))
      else await afterOthers()
      const expected = decision === 'approve' ? 'Approved' : 'Pending'
      assert.equal(stateOf(await admin.csrs.get(request)), expected)
      await admin.csrs.delete(request)
      await admin.machines.deleteCollection({namespace: NAMESPACE})
      for (const one of nodes) await admin.nodes.delete(one)
    })
  }
})
