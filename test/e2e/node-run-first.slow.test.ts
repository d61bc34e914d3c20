import assert from 'node:assert/strict'
import {once} from 'node:events'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import type {CreatedCredential} from '../../src/control-plane/bootstrap-credentials/create.ts'
import type {RequestList} from '../../src/control-plane/requests/list.ts'
import {whoAmI} from '../../src/node/acceptance.ts'
import {startCluster, type Cluster} from '../helpers/cluster.ts'
import {trustadm} from '../helpers/program.ts'
import {begin, type Starting} from '../helpers/running.ts'
import {until} from '../server/support.ts'

describe('node run on a machine that has not joined, with the built program', function () {
  // Each test starts a dozen processes.
  this.timeout(180_000)
  let cluster: Cluster
  let home = ''
  const running: Starting[] = []
  before(async () => {
    cluster = await startCluster()
    home = await mkdtemp(join(tmpdir(), 'trustadm-node-first-'))
  })
  afterEach(async () => {
    for (const one of running.splice(0)) await one.stop()
  })
  after(async () => {
    await cluster.stop()
    await rm(home, {recursive: true, force: true})
  })

  const operator = async <T>(...args: string[]): Promise<T> => {
    const flags = ['--kubeconfig', cluster.kubeconfig, '--output', 'json']
    const {code, stdout, stderr} = await trustadm(...args, ...flags)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as T
  }
  const create = async (kind: string) => {
    const file = join(home, `bootstrap-${kind}.conf`)
    const flags = ['--kind', kind, '--out', file]
    const {id} = await operator<CreatedCredential>('bootstrap-credential', 'create', ...flags)
    return {id, file}
  }
  const dirOf = (node: string) => join(home, node)
  const place = (node: string) => ['--dir', dirOf(node), '--node-name', node]
  const run = (node: string, file: string) => {
    const one = begin('node', 'run', '--bootstrap-kubeconfig', file, ...place(node))
    running.push(one)
    return one
  }
  const userOf = async (node: string) => {
    const client = await connect(join(dirOf(node), 'kubelet.conf'))
    try {
      return await whoAmI(client)
    } finally {
      await client.close()
    }
  }
  const wordsOf = async ({stderr}: Starting) => {
    let words: string | undefined
    await until(() => {
      ;[, words] = /same pairing words: ([a-z ]+)$/m.exec(stderr()) ?? []
      return words !== undefined
    })
    return words
  }
  const pending = async () =>
    (await operator<RequestList>('certificate', 'list', '--state', 'pending')).requests

  for (const kind of ['certificate', 'token']) {
    it(`joins with a bootstrap credential of the kind ${kind}, and needs it no longer`, async () => {
      const {file, id} = await create(kind)
      const node = `image-${kind}`
      const first = run(node, file)
      const words = await wordsOf(first)
      const [request] = await pending()
      assert.ok(request)
      assert.equal(request.pairingWords, words)
      const killed = once(first.process, 'exit')
      first.process.kill('SIGKILL')
      await killed

      const second = run(node, file)
      assert.equal(await wordsOf(second), words)
      assert.equal((await pending()).length, 1)
      // By a person: a Machine that is created more than 10 s after the request, as on a busy computer, does not vouch for it.
      await operator('certificate', 'approve', request.name, '--yes')
      assert.equal(await second.ready, `ready ${node}`)
      assert.equal(await userOf(node), `system:node:${node}`)
      assert.equal(await second.stop(), 0)

      await operator('bootstrap-credential', 'revoke', id, '--yes')
      await rm(file)
      const third = run(node, file)
      assert.equal(await third.ready, `ready ${node}`)
      assert.match(third.stderr(), /warning: the file of --bootstrap-kubeconfig cannot be used now/)
      assert.equal(await third.stop(), 0)
    })
  }

  it('says how to join if it has no credential', async () => {
    const {code, stderr} = await trustadm('node', 'run', ...place('none'))
    assert.equal(code, 1)
    assert.match(stderr, /is not the folder of a node that has joined/)
    assert.match(stderr, /trustadm join/)
  })

  it('ends if the cluster does not accept its credential, and leaves no certificate', async () => {
    const {file, id} = await create('certificate')
    await operator('bootstrap-credential', 'revoke', id, '--yes')
    const flags = ['--bootstrap-kubeconfig', file, ...place('refused')]
    const {code, stderr, stdout} = await trustadm('node', 'run', ...flags)
    assert.deepEqual([code, stdout], [4, ''])
    assert.match(stderr, /it may have been revoked/)
    await assert.rejects(userOf('refused'))
  })
})
