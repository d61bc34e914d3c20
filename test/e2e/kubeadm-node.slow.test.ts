import assert from 'node:assert/strict'
import {mkdir, mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import {whoAmI} from '../../src/node/acceptance.ts'
import type {NodeStatus} from '../../src/node/agent/node-status.ts'
import {startCluster, type Cluster} from '../helpers/cluster.ts'
import {joined} from '../helpers/joined.ts'
import {fakeSystemd, files, kubeletConf, putPair} from '../helpers/kubeadm-node.ts'
import {trustadm, trustadmWith} from '../helpers/program.ts'
import {rotateIn} from '../helpers/rotating.ts'
import {until} from '../server/support.ts'

describe('machines that joined with kubeadm, while the CAs rotate', function () {
  this.timeout(180_000)
  let cluster: Cluster
  let folder = ''
  let env: {PATH: string}
  let systemd = ''
  beforeEach(async () => {
    cluster = await startCluster()
    folder = await mkdtemp(join(tmpdir(), 'trustadm-kubeadm-'))
    const {path, log} = await fakeSystemd(folder, 'active')
    env = {PATH: path}
    systemd = log
  })
  afterEach(async () => {
    await cluster.stop()
    await rm(folder, {recursive: true, force: true})
  })

  /** As `kubeadm join` leaves a machine: with what a bootstrap token and cluster-info give. */
  const machine = async (name: string) => {
    const pair = await joined(cluster, cluster.token, join(folder, 'joining'), name)
    const ca = await readFile(join(folder, 'joining', name, 'pki', 'ca.crt'), 'utf8')
    const [dir, certDir] = [join(folder, name, 'etc'), join(folder, name, 'pki')]
    await mkdir(join(dir, 'pki'), {recursive: true})
    await writeFile(join(dir, 'pki', 'ca.crt'), ca)
    const [, certificate = '', key = ''] =
      /^(-----BEGIN CERT[^]*?-----END CERTIFICATE-----\n)([^]*)$/.exec(pair.key) ?? []
    await putPair(certDir, 'kubelet-client', {certificate, key})
    const link = join(certDir, 'kubelet-client-current.pem')
    const text = kubeletConf({server: cluster.endpoint, ca}, files(link))
    await writeFile(join(dir, 'kubelet.conf'), text, {mode: 0o600})
    await rm(join(folder, 'joining', name), {recursive: true})
    return dir
  }
  const waited = async () => {
    const status = (await rotateIn(cluster.dir, 'status')).report()
    return status.dependents.filter(({kind}) => kind === 'node').map(({name}) => name)
  }
  const userOf = async (dir: string) => {
    const client = await connect(join(dir, 'kubelet.conf'), {retry: {attempts: 1}})
    try {
      return await whoAmI(client)
    } finally {
      await client.close()
    }
  }
  const restarts = async () =>
    (await readFile(systemd, 'utf8')).split('\n').filter((line) => line.startsWith('restart'))
      .length

  it('follow with node renew or node run; one that joins meanwhile is not waited for', async () => {
    const [renewed, run] = [await machine('w1'), await machine('w2')]
    const started = await rotateIn(cluster.dir, 'start', '--yes')
    assert.equal(started.code, 0, started.stderr)
    assert.deepEqual(await waited(), ['w1', 'w2'])

    const renew = await trustadmWith({env}, 'node', 'renew', '--dir', renewed, '-o', 'json')
    assert.equal(renew.code, 0, renew.stderr)
    assert.equal((JSON.parse(renew.stdout) as NodeStatus).clusterInfo.caCertHashes.length, 2)
    assert.equal(await restarts(), 1)
    assert.deepEqual(await waited(), ['w2'])

    const once = await trustadmWith({env}, 'node', 'run', '--once', '--dir', run)
    assert.equal(once.code, 0, once.stderr)
    // The change of the CA that signs spreads over some seconds.
    await until(async () => {
      const again = await trustadmWith({env}, 'node', 'run', '--once', '--dir', run)
      assert.equal(again.code, 0, again.stderr)
      return (await waited()).length === 0
    })

    const late = await machine('w3')
    assert.deepEqual(await waited(), [])
    const left = await machine('w4')
    const completed = await rotateIn(cluster.dir, 'complete', '--yes', '--ignore', 'replaced-here')
    assert.equal(completed.code, 0, completed.stderr)

    for (const [dir, name] of [
      [renewed, 'w1'],
      [run, 'w2'],
      [late, 'w3'],
    ] as const) {
      assert.equal(await userOf(dir), `system:node:${name}`)
      const names = await readdir(dir)
      assert.equal(names.includes('cluster-info.yaml'), false)
      assert.equal(names.includes('node-manifest.json'), false)
    }
    assert.equal(await userOf(left), 'system:node:w4')
    const leave = await trustadm('node', 'leave', '--dir', renewed, '--yes')
    assert.equal(leave.code, 1)
    assert.match(leave.stderr, /kubeadm reset/)
  })

  it('that have missed a rotation come back with their key and a join command', async () => {
    const dir = await machine('off')
    const pem = () => readFile(join(folder, 'off', 'pki', 'kubelet-client-current.pem'), 'utf8')
    const key = (text: string) => /-----BEGIN PRIVATE KEY-----[^]*/.exec(text)?.[0].trim()
    const before = await pem()
    assert.equal((await rotateIn(cluster.dir, 'start', '--yes')).code, 0)
    const completed = await rotateIn(cluster.dir, 'complete', '--yes', '--force')
    assert.equal(completed.code, 0, completed.stderr)

    const refused = await trustadmWith({env}, 'node', 'renew', '--dir', dir)
    assert.equal(refused.code, 3)
    const ca = join(dir, 'pki', 'ca.crt')
    assert.ok(refused.stderr.includes(`"mv ${ca} ${ca}.old"`), refused.stderr)
    await rm(ca)

    const create = ['token', 'create', '--print-join-command', '--kubeconfig', cluster.kubeconfig]
    const {stdout} = await trustadm(...create)
    const [, ...line] = stdout.trim().split(/\s+/)
    const place = ['--dir', dir, '--node-name', 'off']
    const back = await trustadmWith({env}, ...line, ...place)
    assert.equal(back.code, 0, back.stderr)
    assert.match(back.stderr, /requesting a new one with the same key/)
    assert.equal(key(await pem()), key(before))
    assert.notEqual(await pem(), before)
    assert.equal(await userOf(dir), 'system:node:off')
  })
})
