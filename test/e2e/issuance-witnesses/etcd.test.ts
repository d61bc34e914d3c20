import assert from 'node:assert/strict'
import {readFile, truncate} from 'node:fs/promises'
import {join} from 'node:path'
import type {LogEntry} from '../../../src/controllers/signing/log-line.ts'
import type {StatusReport} from '../../../src/control-plane/status.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {trustadm} from '../../helpers/program.ts'
import {startSeveral, type SeveralServers} from '../../helpers/several-servers.ts'
import {until} from '../../server/support.ts'

describeWithEtcd('the issuance logs of two servers', function () {
  this.timeout(180_000)
  let etcd: EtcdCluster
  let several: SeveralServers
  /** The folders of the server that signs first, and of the one that takes over. */
  let [first, second] = ['', '']

  const ok = async (...words: string[]) => {
    const {code, stdout, stderr} = await trustadm(...words)
    assert.equal(code, 0, stderr)
    return stdout
  }
  const logOf = (dir: string) => join(dir, 'logs', 'issuance.log')
  const linesOf = async (dir: string): Promise<LogEntry[]> => {
    const text = await readFile(logOf(dir), 'utf8').catch(() => '')
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LogEntry)
  }
  const node = (name: string) => join(several.folder, name)
  const headOf = async (name: string) =>
    (await readFile(join(node(name), 'issuance-head'), 'utf8')).split(':')[2]
  const admin = () => ['--kubeconfig', join(second, 'admin.conf')]
  const joinNode = async (name: string) => {
    const line = await ok('token', 'create', '--print-join-command', ...admin())
    const [, ...words] = line.trim().split(' ')
    await ok(...words, '--dir', node(name), '--node-name', name)
  }
  const verify = (...dirs: string[]) =>
    trustadm('certificate', 'log', '--verify', ...dirs.map(logOf))

  before(async () => {
    etcd = await startEtcd({members: 1})
    several = await startSeveral(2, [
      ...['--etcd-servers', etcd.servers.join(',')],
      ...['--etcd-prefix', 'e2e/witnesses'],
    ])
    ;[first, second] = several.machines.map(({dir}) => dir) as [string, string]
  })
  after(async () => {
    await several.stop()
    await etcd.stop()
  })

  it('are witnessed by a node from its join on', async () => {
    await joinNode('node-0')
    await joinNode('node-a')
    assert.equal(await headOf('node-a'), (await linesOf(first)).at(-1)?.hash)
    assert.deepEqual(await linesOf(second), [])
  })

  it('name each other when another server takes over', async () => {
    const end = (await linesOf(first)).at(-1)?.hash
    await ok('stop', '--dir', first)
    await joinNode('node-b')
    const [takeover, ...more] = await linesOf(second)
    assert.equal(takeover?.decision, 'took-over')
    const heads = takeover && 'heads' in takeover ? (takeover.heads ?? []) : []
    assert.deepEqual(
      heads.map(({server, hash}) => [server, hash]),
      [['plane-0', end]],
    )
    assert.ok(more.length > 0)
    const {code, stdout, stderr} = await verify(first, second)
    assert.equal(code, 0, stderr)
    assert.equal(stdout.match(/unbroken and written with the key/g)?.length, 2)
  })

  it('show together that one was cut while its server was off, and alone do not', async () => {
    const text = await readFile(logOf(first), 'utf8')
    const lines = text.trimEnd().split('\n')
    await truncate(logOf(first), Buffer.byteLength(`${lines.slice(0, -1).join('\n')}\n`))
    assert.equal((await verify(first)).code, 0)
    const {code, stderr} = await verify(first, second)
    assert.equal(code, 3)
    assert.match(stderr.replaceAll(/\s+/g, ' '), /plane-0.*was cut off/)
  })

  it('are missed by a node that renews, whichever server signs, and the renewal succeeds', async () => {
    await ok('start', '--dir', first)
    const before = await headOf('node-a')
    await ok('node', 'renew', '--dir', node('node-a'))
    assert.notEqual(await headOf('node-a'), before)
    const serverLog = () => readFile(join(first, 'logs', 'server.log'), 'utf8')
    await until(async () =>
      (await serverLog()).includes(
        'error: the issuance log lacks a line that the node node-a has seen',
      ),
    )
    const problems = async () => {
      const {stdout} = await trustadm('status', '--dir', second, '--output', 'json')
      return (JSON.parse(stdout) as StatusReport).server.problems
    }
    await until(async () => (await problems()).some((line) => line.includes('lacks a line')))
    assert.equal((await linesOf(first)).at(-1)?.decision, 'lost')
    assert.equal((await verify(first)).code, 3)
  })
})
