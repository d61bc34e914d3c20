import assert from 'node:assert/strict'
import {readFile, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {Secret} from '../../../src/api/core.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {connect, connectTo} from '../../../src/client/connect.ts'
import type {ServerAccess} from '../../../src/client/server-access.ts'
import {createCredential} from '../../../src/control-plane/bootstrap-credentials/create.ts'
import {
  findCredential,
  listCredentials,
  showCredential,
} from '../../../src/control-plane/bootstrap-credentials/list.ts'
import {
  requireLive,
  revokeCredential,
} from '../../../src/control-plane/bootstrap-credentials/revoke.ts'
import {unrevokeCredential} from '../../../src/control-plane/bootstrap-credentials/remembered.ts'
import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import {systemClock, type Clock} from '../../../src/runtime.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {useTemporaryFolder} from '../../pki/support.ts'
import {csrFor} from '../../controllers/signing/support.ts'

const OPENSHIFT = 'openshift-machine-config-operator'

describe('the life of a bootstrap credential', () => {
  const folder = useTemporaryFolder()
  let server: TestServer
  let client: ApiClient
  let access: ServerAccess
  let warnings: string[]
  beforeEach(async () => {
    warnings = []
    server = await startTestServer()
    const clientCertificate = await server.credentialsFor('admin', ['system:masters'])
    access = {server: server.url, ca: server.ca, clientCertificate}
    client = connectTo(access)
  })
  afterEach(async () => {
    await client.close()
    await server.stop()
  })

  const create = (
    kind: 'certificate' | 'token',
    {
      namespace = 'kube-system',
      file,
      clock = systemClock,
    }: {namespace?: string; file?: string; clock?: Clock} = {},
  ) =>
    createCredential(
      {client, access},
      {
        kind,
        namespace,
        file,
        tell: () => undefined,
        warn: (line) => warnings.push(line),
        clock,
      },
    )
  const options = (log?: string) => ({
    log,
    warn: (line: string) => warnings.push(line),
    clock: systemClock,
  })
  const list = async (log?: string) => (await listCredentials(client, options(log))).credentials
  /** Runs something with the kubeconfig of a credential. */
  const holding = async <T>(
    kubeconfig: string | undefined,
    work: (holder: ApiClient) => Promise<T>,
  ) => {
    const holder = await connect({content: kubeconfig ?? ''})
    try {
      return await work(holder)
    } finally {
      await holder.close()
    }
  }
  const whoIs = (kubeconfig: string | undefined) =>
    holding(kubeconfig, async (holder) => {
      const {status} = await holder.selfSubjectReviews.create({metadata: {}})
      return status?.userInfo?.username
    })
  const revoke = async (id: string) =>
    await revokeCredential(client, await findCredential(client, id, options()), systemClock)

  for (const kind of ['certificate', 'token'] as const) {
    it('was created when it was made, not when its certificate begins', async () => {
      const now = new Date(Math.floor(Date.now() / 1000) * 1000)
      await create('certificate', {clock: {now: () => now}})
      const [made] = await list()
      assert.equal(made?.created, now.toISOString().replace('.000Z', 'Z'))
    })

    it(`of the kind ${kind} begins as the bootstrapper, and ends with 401`, async () => {
      const {kubeconfig, id, accepted, isNew} = await create(kind)
      assert.deepEqual([accepted, isNew, warnings], [true, true, []])
      assert.equal(await whoIs(kubeconfig), 'system:serviceaccount:kube-system:node-bootstrapper')
      assert.deepEqual(
        (await list()).map((one) => [one.id, one.kind, one.state]),
        [[id, kind, 'live']],
      )
      await revoke(id)
      await assert.rejects(whoIs(kubeconfig), {code: 'UNAUTHORIZED'})
      assert.deepEqual(
        (await list()).map((one) => [one.id, one.kind, one.state, one.object]),
        [[id, kind, 'revoked', null]],
      )
    })

    it(`of the kind ${kind} lets its holder ask for a certificate, and do nothing else`, async () => {
      const {kubeconfig} = await create(kind)
      await holding(kubeconfig, async (holder) => {
        await holder.csrs.create(await csrFor({name: 'mine'}))
        await assert.rejects(holder.nodes.list(), {code: 'FORBIDDEN'})
        await assert.rejects(holder.secrets.list({namespace: 'kube-system'}), {code: 'FORBIDDEN'})
        await assert.rejects(holder.configMaps.list({namespace: 'kube-system'}), {
          code: 'FORBIDDEN',
        })
      })
    })

    it(`of the kind ${kind} may be that of OpenShift`, async () => {
      const {kubeconfig, accepted} = await create(kind, {namespace: OPENSHIFT})
      assert.equal(accepted, true)
      assert.equal(await whoIs(kubeconfig), `system:serviceaccount:${OPENSHIFT}:node-bootstrapper`)
    })

    it(`of the kind ${kind} shows its requests that wait, and still does once it is revoked`, async () => {
      const {kubeconfig, id} = await create(kind)
      await holding(kubeconfig, async (holder) => {
        await holder.csrs.create(await csrFor({name: 'mine'}))
      })
      const [used] = await list()
      assert.deepEqual([used?.pending, used?.issued], [['mine'], null])
      assert.ok(used?.lastUsed)
      const revoked = await revoke(id)
      assert.deepEqual(revoked.pending, ['mine'])
      assert.deepEqual(
        (await list()).map((one) => [one.id, one.state, one.pending]),
        [[id, 'revoked', ['mine']]],
      )
      const found = await findCredential(client, id, options())
      assert.throws(() => requireLive(found), {code: 'CONFLICT'})
    })
  }

  it('of the kind token shows requests that wait on a server that does not name the token', async () => {
    await create('token')
    const username = 'system:serviceaccount:kube-system:node-bootstrapper'
    const holder = server.clientAs({username, groups: ['system:authenticated']})
    await holder.csrs.create(await csrFor({name: 'unnamed'}))
    assert.deepEqual(
      (await list()).map(({kind, pending}) => [kind, pending]),
      [['token', ['unnamed']]],
    )
  })

  const BUNDLE = {namespace: 'kube-system', name: 'kubelet-bootstrap-kubeconfig'}
  const unrevoke = async (id: string, dryRun = false) =>
    await unrevokeCredential(client, await findCredential(client, id, options()), {dryRun})

  it('stays revoked when its ConfigMap is deleted and created again from a copy, until it is unrevoked', async () => {
    const {kubeconfig, id} = await create('certificate')
    const {data} = await client.configMaps.get(BUNDLE)
    await revoke(id)
    await client.configMaps.create({metadata: BUNDLE, data: data ?? {}})
    await assert.rejects(whoIs(kubeconfig), {code: 'UNAUTHORIZED'})
    const trusted = await client.configMaps.get({
      namespace: 'kube-system',
      name: 'extension-apiserver-authentication',
    })
    const [ca = ''] = data?.['ca-bundle.crt']?.trim().split('\n\n') ?? []
    assert.ok(!trusted.data?.['client-ca-file']?.includes(ca))
    assert.deepEqual(
      (await list()).map((one) => [one.state, one.object]),
      [['revoked', 'ConfigMap kube-system/kubelet-bootstrap-kubeconfig']],
    )
    // What is there again can be taken away again.
    requireLive(await findCredential(client, id, options()))
    await unrevoke(id, true)
    await assert.rejects(whoIs(kubeconfig), {code: 'UNAUTHORIZED'})
    await unrevoke(id)
    assert.match((await whoIs(kubeconfig)) ?? '', /node-bootstrapper/)
    assert.deepEqual(
      (await list()).map((one) => [one.id, one.state]),
      [[id, 'live']],
    )
    await assert.rejects(unrevoke(id), {code: 'CONFLICT'})
  })

  it('is accepted again by unrevoke without a copy, beside those that were created meanwhile', async () => {
    const first = await create('certificate')
    await revoke(first.id)
    const second = await create('certificate')
    assert.equal((await unrevoke(first.id)).accepted, true)
    for (const {kubeconfig} of [first, second])
      assert.match((await whoIs(kubeconfig)) ?? '', /node-bootstrapper/)
  })

  it('that only a deletion took away lives again with its ConfigMap', async () => {
    const {kubeconfig, id} = await create('certificate')
    const {data} = await client.configMaps.get(BUNDLE)
    await client.configMaps.delete(BUNDLE)
    await assert.rejects(whoIs(kubeconfig), {code: 'UNAUTHORIZED'})
    await client.configMaps.create({metadata: BUNDLE, data: data ?? {}})
    assert.match((await whoIs(kubeconfig)) ?? '', /node-bootstrapper/)
    assert.equal((await findCredential(client, id, options())).state, 'live')
  })

  it('of the kind token stays revoked when its Secret is applied again from a copy, and create makes another', async () => {
    const first = await create('token')
    const ref = {namespace: 'kube-system', name: 'node-bootstrapper-token'}
    const {metadata, data, type} = await client.secrets.get(ref)
    await revoke(first.id)
    const {annotations} = metadata
    await client.secrets.create({
      metadata: {...ref, annotations: annotations ?? {}},
      data,
      type,
    } as Secret)
    await assert.rejects(whoIs(first.kubeconfig), {code: 'UNAUTHORIZED'})
    assert.equal((await findCredential(client, first.id, options())).state, 'revoked')
    const second = await create('token')
    assert.notEqual(second.id, first.id)
    assert.match((await whoIs(second.kubeconfig)) ?? '', /node-bootstrapper/)
    assert.equal((await unrevoke(first.id)).accepted, false)
  })

  it('is in a file for its owner only, which is never overwritten', async () => {
    const file = join(folder(), 'bootstrap-kubelet.conf')
    const created = await create('certificate', {file})
    assert.equal(created.kubeconfig, undefined)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    assert.equal(
      await whoIs(await readFile(file, 'utf8')),
      'system:serviceaccount:kube-system:node-bootstrapper',
    )
    await assert.rejects(create('certificate', {file}), {code: 'ALREADY_EXISTS'})
    assert.equal((await list()).length, 1)
  })

  it('leaves no file behind for a certificate that nobody trusts', async () => {
    await client.configMaps.create({
      metadata: {name: 'kubelet-bootstrap-kubeconfig', namespace: 'kube-system'},
      data: {'ca-bundle.crt': 'nonsense'},
    })
    const file = join(folder(), 'bootstrap-kubelet.conf')
    await assert.rejects(create('certificate', {file}), {code: 'CERTIFICATE_INVALID'})
    await assert.rejects(stat(file), {code: 'ENOENT'})
  })

  it('is one of several certificates, each of which is revoked alone', async () => {
    const [first, second] = [await create('certificate'), await create('certificate')]
    await revoke(first.id)
    await assert.rejects(whoIs(first.kubeconfig), {code: 'UNAUTHORIZED'})
    assert.match((await whoIs(second.kubeconfig)) ?? '', /node-bootstrapper/)
    await revoke(second.id)
    const ref = {namespace: 'kube-system', name: 'kubelet-bootstrap-kubeconfig'}
    assert.equal(await client.configMaps.find(ref), undefined)
  })

  it('never comes back: a new certificate has another CA', async () => {
    const first = await create('certificate')
    await revoke(first.id)
    const second = await create('certificate')
    assert.notEqual(first.id, second.id)
    await assert.rejects(whoIs(first.kubeconfig), {code: 'UNAUTHORIZED'})
  })

  it('is the same token when it is handed out again, and another one after it was revoked', async () => {
    const first = await create('token')
    const again = await create('token')
    assert.deepEqual([again.isNew, again.kubeconfig], [false, first.kubeconfig])
    await revoke(first.id)
    const second = await create('token')
    assert.notEqual(second.id, first.id)
    await assert.rejects(whoIs(first.kubeconfig), {code: 'UNAUTHORIZED'})
  })

  it('of the kind token is not replaced once it is revoked by the command', async () => {
    const {id} = await create('token')
    await revoke(id)
    const account = await client.serviceAccounts.get({
      namespace: 'kube-system',
      name: 'node-bootstrapper',
    })
    assert.deepEqual(account.metadata.annotations ?? {}, {})
  })

  it('comes with a warning where its requests are approved without a Machine', async () => {
    await client.clusterRoleBindings.create({
      metadata: {name: 'too-much'},
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
      },
      subjects: [{kind: 'ServiceAccount', namespace: 'kube-system', name: 'node-bootstrapper'}],
    })
    await create('certificate')
    assert.match(warnings.join('\n'), /can join under any free node name, without a Machine/)
  })

  it('comes with a warning where the server does not accept it', async () => {
    const anonymous = {...client, configMaps: {...client.configMaps}} as ApiClient
    const nowhere = {namespace: 'default', name: 'kubelet-bootstrap-kubeconfig'}
    Object.assign(anonymous, {
      configMaps: {
        find: () => client.configMaps.find(nowhere),
        create: (map: object) => client.configMaps.create({...map, metadata: nowhere}),
      },
    })
    const cluster = {client: anonymous, access}
    const {accepted} = await createCredential(cluster, {
      kind: 'certificate',
      namespace: 'kube-system',
      tell: () => undefined,
      warn: (line) => warnings.push(line),
      clock: systemClock,
    })
    assert.equal(accepted, false)
    assert.match(warnings.join('\n'), /--client-ca-file; use --kind token/)
  })

  it('is shown with the machines that came by it, by the issuance log', async () => {
    const {id, credential} = await create('certificate')
    const log = join(folder(), 'issuance.log')
    const issuances = new FileIssuanceLog(log, systemClock)
    const line = (fingerprint: string, requester: string, by: string) =>
      issuances.append({
        decision: 'issued',
        signer: 'kubernetes.io/kube-apiserver-client-kubelet',
        request: `csr-${fingerprint}`,
        uid: 'u',
        requester,
        credential: by,
        subject: 'O=system:nodes, CN=system:node:one',
        commonName: 'system:node:one',
        names: {dns: [], ips: [], emails: [], uris: []},
        fingerprint,
        serial: fingerprint,
      })
    const user = 'system:serviceaccount:kube-system:node-bootstrapper'
    await line('a1', user, credential ?? '')
    await line('a2', 'system:node:one', 'X509SHA256=a1')
    await line('b1', user, 'JTI=11111111-2222-3333-4444-555555555555')
    await issuances.close()
    const {obtained} = await showCredential(client, id.slice(0, 5), options(log))
    assert.deepEqual(obtained?.nodes, ['one'])
    assert.deepEqual(
      obtained.certificates.map(({serial}) => serial),
      ['a1', 'a2'],
    )
    assert.deepEqual(
      (await list(log)).map((one) => [one.id, one.state, one.issued]),
      [
        [id, 'live', 1],
        ['111111112222', 'revoked', 1],
      ],
    )
    await assert.rejects(showCredential(client, 'ffffffffffff', options(log)), {code: 'NOT_FOUND'})
  })

  it('that another program made is listed by its CA, and can be revoked', async () => {
    const {id} = await create('certificate')
    const ref = {namespace: 'kube-system', name: 'kubelet-bootstrap-kubeconfig'}
    const map = await client.configMaps.get(ref)
    const {'ca-bundle.crt': bundle = ''} = map.data ?? {}
    await client.configMaps.update({...map, data: {'ca-bundle.crt': bundle}})
    const [foreign] = await list()
    assert.deepEqual([foreign?.credential, foreign?.state], [null, 'live'])
    assert.notEqual(foreign?.id, id)
    await revoke(foreign?.id ?? '')
    assert.equal(await client.configMaps.find(ref), undefined)
  })

  for (const kind of ['certificate', 'token'] as const) {
    it(`of the kind ${kind} changes nothing in the cluster if the folder of its file is missing`, async () => {
      const file = join(folder(), 'missing', 'bootstrap-kubelet.conf')
      const {clusterRoleBindings, serviceAccounts, secrets, configMaps} = client
      const inNamespace = [serviceAccounts, secrets, configMaps]
      const versions = async () => {
        const lists = [
          await clusterRoleBindings.list(),
          ...(await Promise.all(inNamespace.map((one) => one.list({namespace: 'kube-system'})))),
        ]
        return lists.flatMap(({items}) =>
          items.map(({metadata: {uid, name, resourceVersion}}) => [uid, name, resourceVersion]),
        )
      }
      const before = await versions()
      await assert.rejects(create(kind, {file}), {
        code: 'FILE_UNWRITABLE',
        message: `there is no folder ${join(folder(), 'missing')}`,
      })
      assert.deepEqual(await versions(), before)
      assert.deepEqual(await list(), [])
    })
  }

  it('is not created over a file that somebody else has put there', async () => {
    const file = join(folder(), 'taken')
    await writeFile(file, 'mine')
    await assert.rejects(create('token', {file}), {code: 'ALREADY_EXISTS'})
    assert.equal(await readFile(file, 'utf8'), 'mine')
    assert.deepEqual(await list(), [])
  })
})
