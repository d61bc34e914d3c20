import assert from 'node:assert/strict'
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {once} from 'node:events'
import type {IncomingMessage} from 'node:http'
import {Agent, get} from 'node:https'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Readable} from 'node:stream'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import type {NodeList} from '../../src/control-plane/nodes/list.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {describeWithKubectl} from '../helpers/clients.ts'
import {startCluster, type Cluster} from '../helpers/cluster.ts'
import {joined} from '../helpers/joined.ts'
import {Kubectl} from '../helpers/kubectl.ts'
import {trustadm} from '../helpers/program.ts'
import {get1, session2} from '../server/http/support.ts'

const REVOKE = ['revoke', '--yes']
const NODES = '/api/v1/nodes'

type NewNode = Awaited<ReturnType<typeof joined>>

describe('revoking certificates of a cluster', function () {
  this.timeout(60_000)
  let cluster: Cluster
  let admin: ApiClient
  let home = ''
  let place: {port: number; ca: string}
  before(async () => {
    cluster = await startCluster()
    admin = await connect(cluster.kubeconfig)
    home = await mkdtemp(join(tmpdir(), 'trustadm-revoke-'))
    const {ca = ''} = await resolveAccess(await readKubeconfig(cluster.kubeconfig))
    place = {port: Number(new URL(cluster.endpoint).port), ca}
  })
  after(async () => {
    await admin.close()
    await cluster.stop()
    await rm(home, {recursive: true, force: true})
  })

  const certificate = (...args: string[]) =>
    trustadm('certificate', ...args, '--kubeconfig', cluster.kubeconfig)
  const ok = async (...args: string[]) => {
    const {code, stdout, stderr} = await certificate(...args)
    assert.equal(code, 0, stderr)
    return {stdout, stderr}
  }
  const newNode = (name: string) => joined(cluster, cluster.token, home, name)
  const ownNode = (name: string) => `${NODES}/${name}`

  const watchOf = (node: string) => `${NODES}?watch=true&fieldSelector=metadata.name%3D${node}`

  /** Waits for the first event of a watch; `ended` is all that came until the server ended it. */
  async function opened(stream: Readable): Promise<{ended: Promise<string>}> {
    stream.setEncoding('utf8')
    let text = ''
    const ended = new Promise<string>((resolve, reject) => {
      stream.on('error', reject)
      stream.on('end', () => resolve(text))
    })
    await new Promise<void>((resolve) => {
      stream.on('data', (chunk: string) => {
        text += chunk
        resolve()
      })
    })
    return {ended}
  }

  /** Over HTTP/1.1. */
  async function watch1({name, certificate: cert, key}: NewNode) {
    const {port, ca} = place
    const asked = get({host: '127.0.0.1', port, ca, cert, key, path: watchOf(name), agent: false})
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return await opened(answer)
  }

  const lastStatus = (text: string): string => /"code":(\d+)/.exec(text)?.[1] ?? text

  it('ends open watches of a node over HTTP/1.1 and HTTP/2, and refuses requests on open connections', async () => {
    const node = await newNode('stolen')
    const agent = new Agent({keepAlive: true, maxSockets: 1})
    const session = await session2(place, node)
    const first = await watch1(node)
    const second = await opened(session.request({':path': watchOf(node.name)}))
    const status = async () =>
      (await get1(place, ownNode(node.name), {credentials: node, agent})).status
    assert.equal(await status(), 200)

    const {stdout} = await ok(...REVOKE, '--node', node.name, '--reason', 'stolen laptop')
    assert.match(stdout, /^revoked the key sha256:[0-9a-f]{12}… of system:node:stolen\n$/)
    assert.equal(lastStatus(await first.ended), '401')
    assert.equal(lastStatus(await second.ended), '401')
    assert.equal(await status(), 401)
    const again = session.request({':path': ownNode(node.name)})
    const answered = await new Promise((resolve) =>
      again.on('response', (headers) => resolve(headers[':status'])),
    )
    assert.equal(answered, 401)
    agent.destroy()
    session.destroy()
  })

  it('leaves the others, and can be undone', async () => {
    const [node, other] = [await newNode('returned'), await newNode('bystander')]
    const status = async (one: typeof node) =>
      (await get1(place, ownNode(one.name), {credentials: one})).status
    const {serial} = parseCertificate(node.certificate)
    await ok(...REVOKE, serial)
    assert.deepEqual([await status(node), await status(other)], [401, 200])

    const list = await ok('list', '--revoked', '--output', 'json')
    const {revocations} = JSON.parse(list.stdout) as {revocations: {serial: string; by: string}[]}
    const entry = revocations.find((one) => one.serial === serial)
    assert.equal(entry?.by, 'kubernetes-admin')
    const names = await ok('list', '--revoked', '--output', 'name')
    assert.ok(names.stdout.split('\n').includes(serial))

    const {stdout} = await ok('unrevoke', serial)
    assert.match(stdout, /of system:node:returned is accepted again\n$/)
    assert.equal(await status(node), 200)
    const missing = await certificate('unrevoke', serial)
    assert.deepEqual([missing.code, missing.stdout], [1, ''])
  })

  it('shows a revoked certificate, and gives its key no other one', async () => {
    const node = await newNode('shown')
    const {serial} = parseCertificate(node.certificate)
    const {items} = await admin.csrs.list()
    const own =
      items.find(
        ({status: {certificate: issued = ''} = {}}) =>
          issued !== '' &&
          parseCertificate(Buffer.from(issued, 'base64').toString()).serial === serial,
      )?.metadata.name ?? ''
    await ok(...REVOKE, own, '--reason', 'lost')
    const {stdout} = await ok('show', own)
    assert.match(stdout, /^revoked +\d+s ago \(\S+\) by kubernetes-admin: lost$/m)
    assert.match(
      stdout,
      /✖ neither the key nor the requester's certificate is revoked: its key is revoked: lost/,
    )
  })

  it('withdraws a token with every machine that joined by it, and names their Nodes', async () => {
    const created = await trustadm('token', 'create', '--kubeconfig', cluster.kubeconfig)
    const token = created.stdout.trim()
    const [id = ''] = token.split('.')
    const node = await joined(cluster, token, home, 'leaked')
    const other = await newNode('of-another-token')
    const status = async (one: typeof node) =>
      (await get1(place, ownNode(one.name), {credentials: one})).status
    const args = ['token', 'delete', id, '--with-machines', '--kubeconfig', cluster.kubeconfig]
    const planned = await trustadm(...args, '--dry-run')
    assert.match(planned.stdout, /would cordon node "leaked"/)
    assert.equal(await status(node), 200)

    const {code, stdout, stderr} = await trustadm(...args, '--yes')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^to delete the nodes: kubectl delete node leaked$/m)
    assert.deepEqual([await status(node), await status(other)], [401, 200])
    const {spec} = await admin.nodes.get('leaked')
    assert.equal(spec?.unschedulable, true)
    // The token is gone by now, and its machines are still found.
    const again = await trustadm(...args, '--yes', '--output', 'json')
    const {nodes} = JSON.parse(again.stdout) as {nodes: {name: string}[]}
    assert.deepEqual(nodes, [{name: 'leaked', cordoned: true}])
  })

  it('lists the nodes, the worst first, and tells the history of each', async () => {
    const node = await newNode('remembered')
    await ok(...REVOKE, '--node', node.name, '--reason', 'lost')
    const listed = await trustadm('node', 'list', '--kubeconfig', cluster.kubeconfig, '-o', 'json')
    const {nodes} = JSON.parse(listed.stdout) as NodeList
    const [first] = nodes
    assert.equal(first?.problems[0]?.code, 'revoked')
    const report = nodes.find(({name}) => name === node.name)
    const {serial} = parseCertificate(node.certificate)
    assert.equal(report?.certificate?.serial, serial)
    const table = await trustadm('node', 'list', '--kubeconfig', cluster.kubeconfig)
    assert.match(table.stdout, /^NAME +STATE +EXPIRES +RENEWED +CAS +ISSUER\n/)

    const told = await trustadm('node', 'history', node.name, '--kubeconfig', cluster.kubeconfig)
    assert.equal(told.code, 0, told.stderr)
    const [id = ''] = cluster.token.split('.')
    assert.match(told.stdout, new RegExp(`joined +serial ${serial} .*bootstrap token ${id};`))
    assert.match(told.stdout, /registered +the Node was created\n/)
    assert.match(told.stdout, /revoked +serial \w+ by kubernetes-admin: lost\n/)
    const unknown = await trustadm('node', 'history', 'nobody', '--kubeconfig', cluster.kubeconfig)
    assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
  })

  it('does not lock out who asks for it', async () => {
    const mine = await certificate('revoke', '--file', cluster.kubeconfig)
    assert.equal(mine.code, 6)
    assert.match(mine.stderr, /was not revoked: you authenticate with it/)
    const plane = await certificate('revoke', '--file', join(cluster.dir, 'super-admin.conf'))
    assert.equal(plane.code, 6)
    assert.match(plane.stderr, /the control plane uses it/)
    assert.equal((await ok('list', '--state', 'pending')).stdout.startsWith('NAME'), true)
  })

  it('lets the machine of the control plane back in, whatever was revoked', async () => {
    const conf = join(cluster.dir, 'admin.conf')
    const before = await readFile(conf, 'utf8')
    const forced = await certificate(...REVOKE, '--file', conf, '--force')
    assert.equal(forced.code, 0, forced.stderr)
    const refused = await certificate('list')
    assert.equal(refused.code, 4)
    const renewed = await trustadm('certificate', 'renew', 'admin.conf', '--dir', cluster.dir)
    assert.equal(renewed.code, 0, renewed.stderr)
    assert.equal((await ok('list')).stdout.startsWith('NAME'), true)
    const old = join(home, 'old.conf')
    await writeFile(old, before)
    assert.equal((await trustadm('certificate', 'list', '--kubeconfig', old)).code, 4)
    await admin.close()
    admin = await connect(cluster.kubeconfig)
  })

  describeWithKubectl('1.36', 'a real kubectl', (binary) => {
    it('gets 401 with a revoked kubeconfig, and edits the list', async () => {
      const conf = join(home, 'ada.conf')
      const user = ['kubeconfig', 'user', '--client-name', 'ada', '--org', 'system:nodes']
      const made = await trustadm(...user, '--dir', cluster.dir)
      assert.equal(made.code, 0, made.stderr)
      await writeFile(conf, made.stdout)
      const ada = new Kubectl({binary, kubeconfig: conf, home})
      const root = new Kubectl({binary, kubeconfig: cluster.kubeconfig, home})
      await ada.ok('auth whoami')
      await ok(...REVOKE, '--file', conf)
      assert.match(await ada.fails('auth whoami'), /Unauthorized|must be logged in/)
      const list = '-n kube-system get configmap trustadm-revoked-certificates'
      assert.match(await root.ok(`${list} -o yaml`), /"user":"ada"/)
      const patch = '-n kube-system patch configmap trustadm-revoked-certificates --type merge'
      await root.ok(`${patch} -p '{"data":{"garbage":"x"}}'`)
      assert.match(await ada.fails('auth whoami'), /Unauthorized|must be logged in/)
      assert.match((await ok('list', '--revoked')).stderr, /"garbage" in ConfigMap/)
      await root.ok(`${patch} -p '{"data":null}'`)
      await ada.ok('auth whoami')
    })
  })
})
