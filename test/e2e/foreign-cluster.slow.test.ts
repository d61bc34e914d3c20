import assert from 'node:assert/strict'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import type {ExistingResult} from '../../src/control-plane/existing/init.ts'
import {startForeignCluster, type ForeignCluster} from '../helpers/foreign-cluster.ts'
import {ownObjects} from '../helpers/foreign-plane.ts'
import {describeEmbedded} from '../helpers/on-etcd.ts'
import {trustadm} from '../helpers/program.ts'
import {startProgram} from '../helpers/running-program.ts'
import {trustadmAtTerminal} from '../helpers/terminal.ts'

/** With etcd, the server behind keeps a Lease of trustadm's for its controllers. */
describeEmbedded('every command against a cluster that knows nothing of trustadm', function () {
  this.timeout(90_000)
  let cluster: ForeignCluster
  let admin: ApiClient
  let folder = ''
  let prepared: ExistingResult

  /** The command lines that were tried. */
  const tried: string[][] = []
  const run = (...args: string[]) => {
    tried.push(args)
    return trustadm(...args, '--kubeconfig', cluster.kubeconfig)
  }
  async function works(...args: string[]): Promise<string> {
    const {code, stdout, stderr} = await run(...args)
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    assert.equal(/\n\s+at /.test(stderr), false, stderr)
    return stdout
  }

  before(async () => {
    cluster = await startForeignCluster()
    admin = await connect(cluster.kubeconfig)
    assert.deepEqual([...(await ownObjects(admin)).keys()], [])
    assert.ok(cluster.removed.length > 20, cluster.removed.join())
    folder = await mkdtemp(join(tmpdir(), 'trustadm-foreign-'))
    prepared = JSON.parse(await works('init', '--output', 'json')) as ExistingResult
    const [, ...line] = (prepared.joinCommand ?? '').split(' ')
    const joined = await trustadm(...line, '--dir', join(folder, 'node'), '--node-name', 'worker')
    assert.equal(joined.code, 0, joined.stderr)
  })
  after(async () => {
    await admin.close()
    await cluster.stop()
    await rm(folder, {recursive: true, force: true})
  })

  it('looks like a kube-apiserver', async () => {
    const {gitVersion} = await admin.version()
    assert.match(gitVersion, /^v\d+\.\d+\.\d+$/)
    await assert.rejects(admin.machines.list(), {code: 'NOT_FOUND'})
    for (const resource of [admin.leases, admin.csrs]) {
      const {items} = await resource.list()
      assert.ok(items.length > 0)
      assert.equal(/trustadm\.io\/(?!witnessed-head)/.exec(JSON.stringify(items)), null)
    }
  })

  it('joins a machine, which renews its certificate and leaves again', async () => {
    const dir = join(folder, 'leaver')
    const [, ...line] = (prepared.joinCommand ?? '').split(' ')
    const joined = await trustadm(...line, '--dir', dir, '--node-name', 'leaver')
    assert.equal(joined.code, 0, joined.stderr)
    for (const words of [
      ['renew'],
      ['status'],
      ['leave', '--yes', '--kubeconfig', cluster.kubeconfig],
    ]) {
      tried.push(['node', ...words])
      const ended = await trustadm('node', ...words, '--dir', dir)
      assert.equal(ended.code, 0, `node ${words.join(' ')}: ${ended.stderr}`)
    }
    assert.equal(await admin.nodes.find('leaver'), undefined)
  })

  it('creates, lists, shows and deletes tokens', async () => {
    const token = (await works('token', 'create')).trim()
    const id = token.slice(0, 6)
    assert.match(await works('token', 'list'), new RegExp(id))
    assert.match(await works('token', 'show', id), new RegExp(id))
    await works('token', 'delete', id)
    assert.equal((await works('token', 'list')).includes(id), false)
  })

  it('requests, lists, shows, approves, denies and downloads certificates', async () => {
    const out = join(folder, 'ada')
    const request = ['certificate', 'request', '--user', 'ada', '--no-wait', '--out', out]
    await works(...request, 'ada')
    assert.match(await works('certificate', 'list'), /ada/)
    await works('certificate', 'show', 'ada')
    await works('certificate', 'approve', 'ada', '--yes')
    await works('certificate', 'request', '--user', 'ada', '--out', out, 'ada')
    assert.match(await works('certificate', 'download', 'ada'), /BEGIN CERTIFICATE/)
    await works('certificate', 'request', '--user', 'bob', '--no-wait', '--out', out, 'bob')
    await works('certificate', 'deny', 'bob')
    await works('certificate', 'list', '--output', 'wide')
  })

  it('goes through the requests that wait, on a terminal', async () => {
    const out = join(folder, 'cleo')
    await works('certificate', 'request', '--user', 'cleo', '--no-wait', '--out', out, 'cleo')
    tried.push(['certificate', 'review'])
    const args = ['certificate', 'review', '--kubeconfig', cluster.kubeconfig]
    // One down from "skip".
    const turns = [{until: 'quit', type: '\u001B[B\r'}]
    const ended = await trustadmAtTerminal({turns}, ...args)
    assert.equal(ended.code, 0, ended.stdout)
    assert.equal((await admin.csrs.get('cleo')).status?.conditions?.[0]?.type, 'Approved')
  })

  it('says whether a machine would be let in, and lets one in again', async () => {
    assert.match(
      await works('certificate', 'simulate', '--node', 'another'),
      /would get a certificate at once/,
    )
    const requester = ['--requester', 'system:bootstrap:abcdef']
    await works('certificate', 'allow-rejoin', 'stranger', '--yes', ...requester)
    const words = ['certificate', 'allow-rejoin', 'stranger', '--revoke', '-o', 'json']
    assert.match(await works(...words), /"wasAllowed": ?true/)
  })

  it('says what kube-controller-manager would do, where that approves', async () => {
    const name = 'kube-controller-manager'
    const renewTime = new Date().toISOString().replace('Z', '000Z')
    const lease = {holderIdentity: 'cp1', leaseDurationSeconds: 3600, renewTime}
    await admin.leases.create({metadata: {namespace: 'kube-system', name}, spec: lease})
    try {
      const simulated = await works('certificate', 'simulate', '--node', 'worker')
      assert.match(simulated.replaceAll(/\s+/g, ' '), /it would take over the name of a node/)
      const words = ['certificate', 'allow-rejoin', 'worker', '--yes', '--requester', 'someone']
      const {code, stderr} = await run(...words)
      assert.equal(code, 0, stderr)
      assert.match(stderr.replaceAll(/\s+/g, ' '), /has no effect while kube-controller-manager/)
    } finally {
      await admin.leases.delete({namespace: 'kube-system', name})
    }
  })

  it('repeats phases of init and join, and what a node does with cron', async () => {
    for (const phase of ['rbac', 'kubeadm-config', 'cluster-info'])
      await works('init', 'phase', phase)
    for (const words of [
      ['join', 'phase', 'register-node'],
      ['node', 'run', '--once'],
    ]) {
      const {code, stderr} = await trustadm(...words, '--dir', join(folder, 'node'))
      assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
    }
  })

  it('says what nodes there are, and what is known of them', async () => {
    assert.match(await works('node', 'list'), /worker/)
    await works('node', 'history', 'worker')
  })

  const unsupported: {args: string[]; code: number; says: RegExp}[] = [
    {args: ['machine', 'list'], code: 1, says: /does not serve Machines/},
    {args: ['machine', 'create', 'm-1'], code: 1, says: /does not serve Machines/},
    {args: ['machine', 'delete', 'm-1'], code: 1, says: /does not serve Machines/},
    {args: ['machine', 'renew', 'm-1'], code: 1, says: /does not serve Machines/},
    {args: ['certificate', 'revoke', '--node', 'worker', '--yes'], code: 1, says: /cannot revoke/},
    {args: ['certificate', 'unrevoke', '--node', 'worker'], code: 1, says: /cannot revoke/},
    {args: ['bootstrap-credential', 'create'], code: 2, says: /only trustadm's own server does/},
    {args: ['bootstrap-credential', 'unrevoke', 'f00d'], code: 1, says: /cannot revoke/},
    ...['start', 'status', 'complete', 'abort'].map((action) => ({
      args: ['ca', 'rotate', action],
      code: 2,
      says: /keys/,
    })),
  ]
  for (const {args, code, says} of unsupported) {
    it(`says clearly that there is no "${args.slice(0, 3).join(' ')}"`, async () => {
      const ended = await run(...args)
      assert.equal(ended.code, code, ended.stderr)
      assert.match(ended.stderr, says)
      assert.match(ended.stderr, /Try this/)
    })
  }

  it('manages bootstrap credentials', async () => {
    const file = join(folder, 'bootstrap.conf')
    await works('bootstrap-credential', 'create', '--kind', 'token', '--out', file)
    const [id = ''] = (await works('bootstrap-credential', 'list', '-o', 'name')).split('\n')
    await works('bootstrap-credential', 'show', id)
    await works('bootstrap-credential', 'revoke', id, '--yes')
  })

  it('runs controllers', async () => {
    tried.push(['controllers'])
    const chosen = ['--controllers', '*,-csr-signer', '--kubeconfig', cluster.kubeconfig]
    const running = await startProgram(/^ready /, 'controllers', ...chosen)
    await running.stop()
    assert.equal(running.stderr().includes('error:'), false, running.stderr())
  })

  it('still has nothing that a server of trustadm makes for itself', async () => {
    const own = await ownObjects(admin)
    assert.deepEqual(
      // The controllers that ran keep their records there.
      cluster.removed.filter((name) => own.has(name) && !name.includes(' trustadm-system/')),
      [],
    )
  })

  it('has tried every command that takes --kubeconfig', async function () {
    if (this.test?.parent?.tests.some(({state}) => state === 'failed')) this.skip()
    const snapshot = await readFile(new URL('../cli/snapshot/commands.json', import.meta.url))
    const commands = JSON.parse(snapshot.toString()) as Record<string, {flags: object}>
    const lines = tried.map((words) => `${words.join(':')}:`)
    const missing = Object.entries(commands)
      .filter(([, {flags}]) => 'kubeconfig' in flags)
      .map(([id]) => id)
      .filter((id) => !lines.some((line) => line.startsWith(`${id}:`)))
    assert.deepEqual(missing, [])
  })
})
