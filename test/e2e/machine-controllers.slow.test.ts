import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import type {PolicyRule} from '../../src/api/rbac.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import {findCondition} from '../../src/csr/conditions.ts'
import {parseRequest} from '../../src/pki/request.ts'
import {Plane} from '../helpers/plane.ts'
import {trustadm, type Ended} from '../helpers/program.ts'
import {start, type Running} from '../helpers/running.ts'
import {until} from '../server/support.ts'

const CONTROLLERS = ['--controllers', 'machine-approver,node-link']
const USER = 'inventory'

const rule = (verbs: string, group: string, resource: string, name?: string): PolicyRule => ({
  verbs: verbs.split(','),
  apiGroups: [group],
  resources: [resource],
  ...(name === undefined ? {} : {resourceNames: [name]}),
})
/** All that the two controllers need. */
const RIGHTS: PolicyRule[] = [
  rule('get,list,watch', 'certificates.k8s.io', 'certificatesigningrequests'),
  rule('update', 'certificates.k8s.io', 'certificatesigningrequests/approval'),
  rule('approve', 'certificates.k8s.io', 'signers', 'kubernetes.io/kube-apiserver-client-kubelet'),
  rule('get,list,watch', '', 'nodes'),
  rule('list,watch', 'machine.openshift.io', 'machines'),
  rule('patch', 'machine.openshift.io', 'machines/status'),
  rule('create', '', 'events'),
]
/** And in kube-system. */
const RIGHTS_IN_SYSTEM: PolicyRule[] = [
  rule('list,update', 'coordination.k8s.io', 'leases'),
  rule('get', '', 'secrets', 'node-bootstrapper-token'),
  rule('get,list,watch', '', 'configmaps'),
]
/** And where the records and leases of trustadm are. */
const RIGHTS_IN_OWN: PolicyRule[] = [
  rule('get,create,update', 'coordination.k8s.io', 'leases'),
  rule('get,create,update', '', 'configmaps'),
]

describe('machine-approver and node-link as a process of their own', function () {
  this.timeout(60_000)
  let plane: Plane
  let admin: ApiClient
  let home = ''
  let controllers: Running | undefined
  const file = (name: string) => join(home, name)
  const operator = async (...args: string[]) => {
    const ended = await trustadm(...args, '--kubeconfig', plane.cluster.kubeconfig)
    assert.equal(ended.code, 0, ended.stderr)
    return ended.stdout
  }

  before(async () => {
    plane = await Plane.start()
    await plane.restart(undefined, '--controllers', '*,-machine-approver,-node-link')
    home = await mkdtemp(join(tmpdir(), 'trustadm-inventory-'))
    admin = await connect(plane.cluster.kubeconfig)
    const user = ['--client-name', USER, '--dir', plane.cluster.dir]
    const made = await trustadm('kubeconfig', 'user', ...user)
    assert.equal(made.code, 0, made.stderr)
    await writeFile(file('inventory.conf'), made.stdout, {mode: 0o600})
    const flags = ['--kind', 'token', '--out', file('bootstrap.conf')]
    await operator('bootstrap-credential', 'create', ...flags)
  })
  after(async () => {
    await controllers?.stop()
    await admin.close()
    await plane.stop()
    await rm(home, {recursive: true, force: true})
  })

  const command = () => ['controllers', '--kubeconfig', file('inventory.conf'), ...CONTROLLERS]
  const joinAs = (node: string, ...more: string[]): Promise<Ended> =>
    trustadm(
      ...['join', '--bootstrap-kubeconfig', file('bootstrap.conf'), '--node-name', node],
      ...['--dir', file(node), ...more],
    )
  const requestFor = async (node: string): Promise<CertificateSigningRequest | undefined> => {
    const {items} = await admin.csrs.list()
    return items.find(({spec}) => {
      const {subject} = parseRequest(Buffer.from(spec.request, 'base64').toString())
      return subject.commonName === `system:node:${node}`
    })
  }

  it('say at once which rights they lack', async () => {
    const {code, stderr} = await trustadm(...command())
    assert.equal(code, 4, stderr)
    assert.match(stderr, /list machines\.machine\.openshift\.io/)
    assert.match(stderr, /patch machines\.machine\.openshift\.io\/status/)
    assert.match(stderr, /get secrets "node-bootstrapper-token" in kube-system/)
  })

  it('let in an expected machine that waited for them, and link it to its Node', async () => {
    await operator('machine', 'create', 'expected')
    const waiting = joinAs('expected')
    await until(async () => (await requestFor('expected')) !== undefined)
    // The controllers of the server have seen it by the time they have set up a namespace.
    await admin.namespaces.create({metadata: {name: 'later'}})
    await until(
      async () =>
        (await admin.serviceAccounts.find({namespace: 'later', name: 'default'})) !== undefined,
    )
    assert.deepEqual((await requestFor('expected'))?.status ?? {}, {})

    const roleRef = {apiGroup: 'rbac.authorization.k8s.io', name: USER}
    const subjects = [{kind: 'User' as const, name: USER, apiGroup: 'rbac.authorization.k8s.io'}]
    const metadata = {name: USER}
    await admin.clusterRoles.create({metadata, rules: RIGHTS})
    await admin.clusterRoleBindings.create({
      metadata,
      subjects,
      roleRef: {...roleRef, kind: 'ClusterRole'},
    })
    for (const [namespace, rules] of [
      ['kube-system', RIGHTS_IN_SYSTEM],
      ['trustadm-system', RIGHTS_IN_OWN],
    ] as const) {
      const inSystem = {name: USER, namespace}
      await admin.roles.create({metadata: inSystem, rules: [...rules]})
      await admin.roleBindings.create({
        metadata: inSystem,
        subjects,
        roleRef: {...roleRef, kind: 'Role'},
      })
    }
    controllers = await start(...command())
    const {code, stderr} = await waiting
    assert.equal(code, 0, stderr)
    const csr = await requestFor('expected')
    const {message = ''} = (csr && findCondition(csr, 'Approved')) ?? {}
    assert.match(message, /an expected Machine/)
    await until(async () => {
      const listed = await operator('machine', 'list', '--output', 'json')
      const {machines} = JSON.parse(listed) as {machines: {name: string; node: string | null}[]}
      return machines.some(({name, node}) => name === 'expected' && node === 'expected')
    })
  })

  it('hold one that is not expected, and say why', async () => {
    const {code, stderr} = await joinAs('stranger', '--timeout', '3s')
    assert.equal(code, 5, stderr)
    const name = (await requestFor('stranger'))?.metadata.name ?? ''
    const fieldSelector = `involvedObject.name=${name},reason=NoMachine`
    const {items} = await admin.events.list({namespace: 'default', fieldSelector})
    assert.equal(items.length, 1)
    assert.doesNotMatch(controllers?.stderr() ?? '', /error/)
  })
})
