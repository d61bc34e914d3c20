import assert from 'node:assert/strict'
import {X509Certificate} from 'node:crypto'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import type {PolicyRule} from '../../src/api/rbac.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import {findCondition} from '../../src/csr/conditions.ts'
import {
  APPROVAL,
  CLIENT_USAGES,
  SERVING_USAGES,
  csrFor,
  eventually,
  pemOf,
  settled,
} from '../controllers/signing/support.ts'
import {programFixture, trustadm, trustadmWith, type ProgramFixture} from '../helpers/program.ts'
import {start, type Running} from '../helpers/running.ts'

const CERTIFICATES = 'certificates.k8s.io'
const CSRS = 'certificatesigningrequests'
const SERVER_ONLY = '*,-csrapproving,-kubelet-serving-approver,-csr-signer'

const rule = (verbs: string, group: string, resource: string, names?: string[]): PolicyRule => ({
  verbs: verbs.split(','),
  apiGroups: [group],
  resources: [resource],
  ...(names ? {resourceNames: names} : {}),
})

/** The reader of a program's output cannot be faster than this. */
const SIGNAL_AT_READY = `const write = process.stdout.write.bind(process.stdout)
process.stdout.write = (text, ...rest) => {
  const isWritten = write(text, ...rest)
  if (String(text).startsWith('ready ')) process.kill(process.pid, 'SIGTERM')
  return isWritten
}`

/** What each identity may do in the whole cluster; and in the namespaces of its records and leases. */
const RIGHTS: Record<string, PolicyRule[]> = {
  approver: [
    rule('get,list,watch', CERTIFICATES, CSRS),
    rule('update', CERTIFICATES, `${CSRS}/approval`),
    rule('approve', CERTIFICATES, 'signers', ['kubernetes.io/*']),
    rule('create', 'authorization.k8s.io', 'subjectaccessreviews'),
    rule('get,list,watch', '', 'nodes'),
    rule('list,watch', 'machine.openshift.io', 'machines'),
    rule('get', '', 'services', ['kubernetes']),
    rule('get', '', 'configmaps', ['kubeadm-config']),
    rule('list', 'discovery.k8s.io', 'endpointslices'),
    rule('list', 'networking.k8s.io', 'servicecidrs'),
    rule('create', '', 'events'),
  ],
  signer: [
    rule('get,list,watch', CERTIFICATES, CSRS),
    rule('update', CERTIFICATES, `${CSRS}/status`),
    rule('sign', CERTIFICATES, 'signers', ['kubernetes.io/*']),
  ],
  requester: [
    rule('create,get,list,watch', CERTIFICATES, CSRS),
    rule('create', CERTIFICATES, `${CSRS}/nodeclient`),
  ],
}

describe('approver and signer as processes of their own', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  let admin: ApiClient
  let requester: ApiClient
  const running: Running[] = []
  const file = (name: string) => join(fixture.folder, name)
  const run = async (...args: string[]) => {
    const one = await start(...args)
    running.push(one)
    return one
  }
  const clients: ApiClient[] = []
  const clientOf = async (path: string) => {
    const client = await connect(path)
    clients.push(client)
    return client
  }
  const as = (user: string) => clientOf(file(`${user}.conf`))

  /** A kubeconfig for a user with the rights of the table, and leases where it leads. */
  async function makeUser(user: string): Promise<void> {
    const made = await trustadm('kubeconfig', 'user', '--client-name', user, '--dir', fixture.dir)
    assert.equal(made.code, 0, made.stderr)
    await writeFile(file(`${user}.conf`), made.stdout, {mode: 0o600})
    const metadata = {name: `test-${user}`}
    const subjects = [{kind: 'User' as const, name: user, apiGroup: 'rbac.authorization.k8s.io'}]
    const roleRef = {apiGroup: 'rbac.authorization.k8s.io', name: metadata.name}
    await admin.clusterRoles.create({metadata, rules: RIGHTS[user] ?? []})
    await admin.clusterRoleBindings.create({
      metadata,
      subjects,
      roleRef: {...roleRef, kind: 'ClusterRole'},
    })
    if (user === 'requester') return
    const leases = rule('get,list,create,update', 'coordination.k8s.io', 'leases')
    const records = rule('get,list,watch,create,update', '', 'configmaps')
    for (const [namespace, rules] of [
      ['kube-system', [leases]],
      ['trustadm-system', [leases, records]],
    ] as const) {
      const inSystem = {...metadata, namespace}
      await admin.roles.create({metadata: inSystem, rules: [...rules]})
      await admin.roleBindings.create({
        metadata: inSystem,
        subjects,
        roleRef: {...roleRef, kind: 'Role'},
      })
    }
  }

  const signerFlags = (log: string) => [
    ...['--kubeconfig', file('signer.conf'), '--controllers', 'csrsigning'],
    ...['--cluster-signing-cert-file', join(fixture.dir, 'pki', 'ca.crt')],
    ...['--cluster-signing-key-file', join(fixture.dir, 'pki', 'ca.key')],
    ...['--issuance-log', file(log)],
  ]

  before(async () => {
    fixture = await programFixture()
    const made = await fixture.init()
    assert.equal(made.code, 0, made.stderr)
    const pid = await fixture.serverPid()
    process.kill(pid, 'SIGTERM')
    await eventually(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return await fixture.serverPid().then(
        () => undefined,
        () => true,
      )
    })
    await run('serve', '--dir', fixture.dir, '--controllers', SERVER_ONLY)
    admin = await clientOf(join(fixture.dir, 'admin.conf'))
    for (const user of Object.keys(RIGHTS)) await makeUser(user)
    requester = await as('requester')
  })
  after(async () => {
    for (const client of clients) await client.close()
    for (const one of running.reverse()) await one.stop()
    await fixture.remove()
  })

  const nodeRequest = (name: string) => csrFor({name, commonName: `system:node:${name}`})
  const servingRequest = (name: string) =>
    csrFor({
      name: `${name}-serving`,
      commonName: `system:node:${name}`,
      signerName: 'kubernetes.io/kubelet-serving',
      usages: SERVING_USAGES,
      names: {dns: [name]},
    })

  it('leave a request alone where neither runs', async () => {
    await requester.csrs.create(await nodeRequest('early'))
    // The controllers of the server have seen it by the time they have set up a namespace.
    await admin.namespaces.create({metadata: {name: 'later'}})
    await eventually(() => admin.serviceAccounts.find({namespace: 'later', name: 'default'}))
    assert.deepEqual((await requester.csrs.get('early')).status ?? {}, {})
  })

  it('say at once which rights they lack', async () => {
    const flags = ['--kubeconfig', file('requester.conf'), '--controllers', 'csr-approver']
    const {code, stderr} = await trustadm('controllers', ...flags)
    assert.equal(code, 4, stderr)
    assert.match(stderr, /update certificatesigningrequests\.certificates\.k8s\.io\/approval/)
    assert.match(stderr, /approve signers\.certificates\.k8s\.io "kubernetes\.io\/kube-apis/)
    assert.match(stderr, /create leases\.coordination\.k8s\.io in trustadm-system/)
    assert.doesNotMatch(stderr, /list certificatesigningrequests/)
  })

  it('end in order on a signal that comes as soon as they are ready', async () => {
    await writeFile(file('signal.cjs'), SIGNAL_AT_READY)
    const {code, stderr} = await trustadmWith(
      {env: {NODE_OPTIONS: `--require ${file('signal.cjs')}`}},
      ...['controllers', '--kubeconfig', file('approver.conf'), '--controllers', 'csrapproving'],
    )
    assert.equal(code, 0, stderr)
    assert.match(stderr, /stopped\n$/)
  })

  it('approve and do not sign where only the approver runs', async () => {
    await run(
      ...['controllers', '--kubeconfig', file('approver.conf'), '--deny'],
      ...['--controllers', 'csr-approver,kubelet-serving-approver'],
    )
    const approved = await eventually(async () => {
      const csr = await requester.csrs.get('early')
      return findCondition(csr, 'Approved') && csr
    })
    assert.equal(findCondition(approved, 'Approved')?.reason, 'AutoApproved')
    assert.equal(approved.status?.certificate, undefined)
  })

  it('issue a certificate together', async () => {
    await run('controllers', ...signerFlags('issuance.log'))
    await requester.csrs.create(await nodeRequest('good'))
    const ca = new X509Certificate(await readFile(join(fixture.dir, 'pki', 'ca.crt')))
    for (const name of ['early', 'good']) {
      const certificate = new X509Certificate(pemOf(await settled(requester, name)))
      assert.ok(certificate.verify(ca.publicKey))
      assert.match(certificate.subject, new RegExp(`CN=system:node:${name}`))
    }
  })

  it('tell the requester that the approver has denied', async () => {
    await requester.csrs.create(await servingRequest('foreign'))
    const denied = await eventually(async () => {
      const csr = await requester.csrs.get('foreign-serving')
      return findCondition(csr, 'Denied') && csr
    })
    assert.equal(findCondition(denied, 'Denied')?.reason, 'KubeletServingPolicy')
    // The signer has seen it by the time it has signed a later one.
    await requester.csrs.create(await nodeRequest('later'))
    await settled(requester, 'later')
    const later = await requester.csrs.get('foreign-serving')
    assert.equal(later.status?.certificate, undefined)
    assert.equal(findCondition(later, 'Failed'), undefined)
  })

  const misused = (name: string) =>
    csrFor({
      name,
      commonName: 'ada',
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: [...CLIENT_USAGES, 'server auth'],
    })

  it('tell the requester that the signer has failed', async () => {
    await requester.csrs.create(await misused('misused'))
    const flags = ['--kubeconfig', file('approver.conf')]
    const {code, stderr} = await trustadm('certificate', 'approve', 'misused', ...flags)
    assert.equal(code, 0, stderr)
    const failed = await settled(requester, 'misused')
    const {reason, message} = findCondition(failed, 'Failed') ?? {}
    assert.equal(reason, 'SignerValidationFailure')
    assert.match(message ?? '', /not permitted: "server auth"/)
    assert.equal(failed.status?.certificate, undefined)
  })

  const withApproval = (csr: CertificateSigningRequest) => ({
    ...csr,
    status: {...csr.status, conditions: [APPROVAL]},
  })

  it('cannot do the work of each other', async () => {
    const csr = await requester.csrs.create(await misused('nobodys'))
    const [approver, signer] = [await as('approver'), await as('signer')]
    await assert.rejects(signer.csrs.updateSubresource('approval', withApproval(csr)), {
      code: 'FORBIDDEN',
    })
    const approved = await approver.csrs.updateSubresource('approval', withApproval(csr))
    const certificate = (await requester.csrs.get('good')).status?.certificate ?? ''
    const signed = {...approved, status: {...approved.status, certificate}}
    await assert.rejects(approver.csrs.updateStatus(signed), {code: 'FORBIDDEN'})
  })

  it('keep an unbroken log of what was issued and refused', async () => {
    const log = file('issuance.log')
    const {stdout} = await trustadm('certificate', 'log', '--file', log, '--output', 'json')
    const {entries, head} = JSON.parse(stdout) as {
      entries: {request: string; decision: string; requester: string}[]
      head: string
    }
    const decisions = entries.map(({request, decision}) => `${request} ${decision}`)
    for (const expected of ['early issued', 'good issued', 'misused refused']) {
      assert.ok(decisions.includes(expected), decisions.join())
    }
    assert.ok(entries.every((entry) => entry.requester === 'requester'))
    const checked = await trustadm('certificate', 'log', '--file', log, '--head', head)
    assert.equal(checked.code, 0, checked.stderr)
    assert.match(
      checked.stdout,
      new RegExp(`the chain is unbroken and written with the key of the log\\nhead ${head}`),
    )
  })

  it('take turns: the second signer works once the first has ended', async () => {
    const first = running.at(-1)
    const second = await run('controllers', ...signerFlags('second.log'))
    await requester.csrs.create(await nodeRequest('first-turn'))
    await settled(requester, 'first-turn')
    assert.doesNotMatch(second.stderr(), /csr-signer: leads/)

    await first?.stop()
    assert.match(first?.stderr() ?? '', /stopped leading/)
    await requester.csrs.create(await nodeRequest('second-turn'))
    await settled(requester, 'second-turn')
    assert.match(await readFile(file('second.log'), 'utf8'), /"request":"second-turn"/)
  })
})

describe('the list of controllers', () => {
  for (const [name, args, said] of [
    ['a controller that there is none of', ['--controllers', 'csr-sinner'], /csr-signer/],
    ['a list that names none', ['--controllers=-csr-signer'], /names no controller to run/],
    [
      'half a CA',
      ['--cluster-signing-kubelet-serving-cert-file', 'ca.crt'],
      /needs --cluster-signing-kubelet-serving-key-file too/,
    ],
  ] as const) {
    it(`refuses ${name}`, async () => {
      for (const command of ['serve', 'controllers']) {
        const {code, stderr} = await trustadm(command, ...args)
        assert.equal(code, 2, stderr)
        assert.match(stderr, said)
      }
    })
  }
})
