import assert from 'node:assert/strict'
import {once} from 'node:events'
import {mkdtemp, rm, stat} from 'node:fs/promises'
import type {IncomingMessage} from 'node:http'
import {Agent, get} from 'node:https'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Readable} from 'node:stream'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import type {CreatedCredential} from '../../src/control-plane/bootstrap-credentials/create.ts'
import type {
  CredentialDetails,
  CredentialList,
} from '../../src/control-plane/bootstrap-credentials/list.ts'
import type {UnrevokedCredential} from '../../src/control-plane/bootstrap-credentials/remembered.ts'
import type {TokenDetails} from '../../src/control-plane/token-show.ts'
import {describeWithKubectl} from '../helpers/clients.ts'
import {startCluster, type Cluster} from '../helpers/cluster.ts'
import {joined} from '../helpers/joined.ts'
import {Kubectl} from '../helpers/kubectl.ts'
import {LOCAL, trustadm} from '../helpers/program.ts'
import {get1, session2, type HttpOptions} from '../server/http/support.ts'

const WATCH = '/apis/certificates.k8s.io/v1/certificatesigningrequests?watch=true'
const KINDS = ['certificate', 'token'] as const

describe('bootstrap credentials, with the built program', function () {
  this.timeout(60_000)
  let cluster: Cluster
  let admin: ApiClient
  let home = ''
  let place: {port: number; ca: string}
  let count = 0
  before(async () => {
    cluster = await startCluster()
    admin = await connect(cluster.kubeconfig)
    home = await mkdtemp(join(tmpdir(), 'trustadm-credential-'))
    const {ca = ''} = await resolveAccess(await readKubeconfig(cluster.kubeconfig))
    place = {port: Number(new URL(cluster.endpoint).port), ca}
  })
  after(async () => {
    await admin.close()
    await cluster.stop()
    await rm(home, {recursive: true, force: true})
  })

  const run = async <T>(...args: string[]): Promise<T> => {
    const {code, stdout, stderr} = await trustadm(
      ...args,
      ...['--kubeconfig', cluster.kubeconfig, '--output', 'json'],
    )
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as T
  }
  const credential = <T>(...args: string[]) => run<T>('bootstrap-credential', ...args)
  const create = async (kind: string) => {
    const file = join(home, `bootstrap-${++count}.conf`)
    const created = await credential<CreatedCredential>('create', '--kind', kind, '--out', file)
    return {...created, file}
  }
  const joinWith = (file: string, node: string, ...more: string[]) =>
    trustadm(
      ...['join', '--bootstrap-kubeconfig', file, '--node-name', node],
      ...['--dir', join(home, node), '--output', 'json', ...more],
    )
  const expectMachine = (node: string) => run('machine', 'create', node, '--dns', node)

  /** How a holder of the kubeconfig authenticates. */
  async function holder(file: string) {
    const {clientCertificate, bearerToken} = await resolveAccess(await readKubeconfig(file))
    const token = await bearerToken?.()
    const headers: Record<string, string> = token ? {authorization: `Bearer ${token}`} : {}
    return {credentials: clientCertificate, headers}
  }

  /** Waits until it is open; `ended` is all that came until the server ended it. */
  function untilEnded(stream: Readable): Promise<string> {
    stream.setEncoding('utf8')
    let text = ''
    return new Promise<string>((resolve, reject) => {
      stream.on('error', reject)
      stream.on('data', (chunk: string) => (text += chunk))
      stream.on('end', () => resolve(text))
    })
  }

  /** An open watch over HTTP/1.1, one over HTTP/2, and a connection that waits for its next request. */
  async function connections(file: string) {
    const {credentials, headers} = await holder(file)
    const agent = new Agent({keepAlive: true, maxSockets: 1})
    const session = await session2(place, credentials)
    const {port, ca} = place
    const tls = credentials ? {cert: credentials.certificate, key: credentials.key} : {}
    const asked = get({host: '127.0.0.1', port, ca, ...tls, path: WATCH, headers, agent: false})
    const [first] = (await once(asked, 'response')) as [IncomingMessage]
    assert.equal(first.statusCode, 200)
    const second = session.request({':path': WATCH, ...headers})
    const [answer] = (await once(second, 'response')) as [{':status'?: number}]
    assert.equal(answer[':status'], 200)
    const options: HttpOptions = {headers, agent, ...(credentials && {credentials})}
    const status = async () => (await get1(place, '/version', options)).status
    assert.equal(await status(), 200)
    return {
      ended: Promise.all([untilEnded(first), untilEnded(second)]),
      status,
      close: () => {
        agent.destroy()
        session.destroy()
      },
    }
  }

  for (const kind of KINDS) {
    it(`of the kind ${kind} bring in an expected machine, and are refused once revoked, on open connections`, async () => {
      const {file, id, accepted} = await create(kind)
      assert.equal(accepted, true)
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      const node = `fleet-${kind}`
      await expectMachine(node)
      const first = await joinWith(file, node)
      assert.equal(first.code, 0, first.stderr)
      const shown = await credential<CredentialDetails>('show', id)
      assert.deepEqual([shown.state, shown.obtained?.nodes], ['live', [node]])
      const open = await connections(file)
      try {
        await credential('revoke', id, '--yes')
        for (const text of await open.ended) assert.match(text, /"code":401/)
        assert.equal(await open.status(), 401)
      } finally {
        open.close()
      }
      await expectMachine(`late-${kind}`)
      assert.equal((await joinWith(file, `late-${kind}`)).code, 4)
      const {state, obtained} = await credential<CredentialDetails>('show', id)
      assert.deepEqual([state, obtained?.nodes], ['revoked', [node]])
    })
  }

  for (const [kind, remove] of [
    ['certificate', () => admin.configMaps.delete('kube-system/kubelet-bootstrap-kubeconfig')],
    ['token', () => admin.secrets.delete('kube-system/node-bootstrapper-token')],
  ] as const) {
    it(`of the kind ${kind} are refused once somebody deletes what they rest on, and init does not bring them back`, async () => {
      const {file, id} = await create(kind)
      const open = await connections(file)
      try {
        await remove()
        for (const text of await open.ended) assert.match(text, /"code":401/)
        assert.equal(await open.status(), 401)
        const again = await trustadm('init', '--dir', cluster.dir, ...LOCAL, '--quiet')
        assert.equal(again.code, 0, again.stderr)
        assert.equal(await open.status(), 401)
      } finally {
        open.close()
      }
      const {credentials} = await credential<CredentialList>('list')
      assert.ok(!credentials.some((one) => one.id === id && one.state === 'live'))
    })
  }

  it('stay revoked while their ConfigMap is applied again from a copy, until unrevoke', async () => {
    const {file, id, namespace} = await create('certificate')
    const ref = 'kube-system/kubelet-bootstrap-kubeconfig'
    const {data = {}} = await admin.configMaps.get(ref)
    await credential('revoke', id, '--yes')
    const map = await admin.configMaps.find(ref)
    const [home = '', name = ''] = ref.split('/')
    await (map === undefined
      ? admin.configMaps.create({metadata: {namespace: home, name}, data})
      : admin.configMaps.update({...map, data}))
    await expectMachine('copied')
    assert.equal((await joinWith(file, 'copied')).code, 4)
    const expected = {id, kind: 'certificate', namespace, accepted: true}
    const {credential: named, ...planned} = await credential<UnrevokedCredential>(
      ...['unrevoke', id, '--dry-run'],
    )
    assert.deepEqual(planned, expected)
    assert.match(named ?? '', /^X509SHA256=/)
    assert.equal((await joinWith(file, 'copied')).code, 4)
    await credential('unrevoke', id)
    const {code, stderr} = await joinWith(file, 'copied')
    assert.equal(code, 0, stderr)
    const again = await trustadm(
      ...['bootstrap-credential', 'unrevoke', id, '--kubeconfig', cluster.kubeconfig],
    )
    assert.match(again.stderr, /is not revoked/)
  })

  it('are withdrawn together with the machines that came by them', async () => {
    const {file, id} = await create('certificate')
    await expectMachine('withdrawn')
    const {code, stderr, stdout} = await joinWith(file, 'withdrawn')
    assert.equal(code, 0, stderr)
    const {kubeconfig} = JSON.parse(stdout) as {kubeconfig: string}
    const node = await connect(kubeconfig)
    try {
      assert.ok(await node.nodes.get('withdrawn'))
      await credential('revoke', id, '--with-machines', '--yes')
      await assert.rejects(node.nodes.get('withdrawn'), {code: 'UNAUTHORIZED'})
    } finally {
      await node.close()
    }
    assert.equal((await admin.nodes.get('withdrawn')).spec?.unschedulable, true)
  })

  it('ask before they are revoked, and change nothing in a dry run', async () => {
    const {id} = await create('certificate')
    const revoke = (...more: string[]) =>
      trustadm('bootstrap-credential', 'revoke', id, '--kubeconfig', cluster.kubeconfig, ...more)
    const unasked = await revoke()
    assert.equal(unasked.code, 2)
    assert.match(unasked.stderr, /use --yes/)
    const planned = await revoke('--dry-run')
    assert.match(planned.stdout, /would revoke the bootstrap credential/)
    assert.match(
      planned.stdout,
      /create --kind token --namespace kube-system --out <file> --kubeconfig /,
    )
    const {credentials} = await credential<CredentialList>('list')
    assert.ok(credentials.some((one) => one.id === id && one.state === 'live'))
  })

  it('are printed once where no file is named, and never listed with a secret', async () => {
    const {stdout, stderr, code} = await trustadm(
      ...['bootstrap-credential', 'create', '--kind', 'token', '--kubeconfig', cluster.kubeconfig],
    )
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^apiVersion: v1\n/)
    const token = /token: (\S+)/.exec(stdout)?.[1] ?? ''
    assert.notEqual(token, '')
    for (const words of [
      ['list', '-o', 'wide'],
      ['list', '-o', 'json'],
    ]) {
      const listed = await trustadm(
        ...['bootstrap-credential', ...words, '--kubeconfig', cluster.kubeconfig],
      )
      assert.equal(listed.code, 0, listed.stderr)
      assert.ok(!(listed.stdout + listed.stderr).includes(token.slice(-20)))
    }
    assert.ok(!stderr.includes(token.slice(-20)))
  })

  it('have their like in tokens: "token show" lists the machines, also once the token is deleted', async () => {
    await joined(cluster, cluster.token, home, 'by-token')
    const [id = ''] = cluster.token.split('.')
    const shown = await run<TokenDetails>('token', 'show', id)
    assert.deepEqual([shown.token?.id, shown.obtained?.nodes], [id, ['by-token']])
    assert.ok(!JSON.stringify(shown).includes(cluster.token))
    await run('token', 'delete', id)
    const later = await run<TokenDetails>('token', 'show', id)
    assert.deepEqual([later.token, later.obtained?.nodes], [null, ['by-token']])
    const unknown = await trustadm('token', 'show', 'zzzzzz', '--kubeconfig', cluster.kubeconfig)
    assert.equal(unknown.code, 1)
  })

  describeWithKubectl('1.36', 'a bootstrap kubeconfig', function (binary) {
    for (const kind of KINDS) {
      it(`lets kubectl list requests, until kubectl deletes what it rests on: ${kind}`, async () => {
        const {file} = await create(kind)
        const bootstrapper = new Kubectl({binary, kubeconfig: file, home})
        const operator = new Kubectl({binary, kubeconfig: cluster.kubeconfig, home})
        assert.equal((await bootstrapper.run('get csr')).code, 0)
        assert.match((await bootstrapper.run('get nodes')).stderr, /Forbidden/)
        const resource =
          kind === 'certificate'
            ? 'configmap kubelet-bootstrap-kubeconfig'
            : 'secret node-bootstrapper-token'
        assert.equal((await operator.run(`delete ${resource} -n kube-system`)).code, 0)
        assert.match((await bootstrapper.run('get csr')).stderr, /Unauthorized|logged in/)
      })
    }
  })
})
