import assert from 'node:assert/strict'
import {X509Certificate} from 'node:crypto'
import {mkdir, mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {parse} from 'yaml'
import type {JoinedPlane} from '../../../src/cli/join-plane.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {connect} from '../../../src/client/connect.ts'
import type {StatusReport} from '../../../src/control-plane/status.ts'
import {privateKeyPem} from '../../../src/pki/keys.ts'
import {NO_NAMES} from '../../../src/pki/subject-names.ts'
import {findClient} from '../../helpers/clients.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {Kubectl} from '../../helpers/kubectl.ts'
import {trustadm} from '../../helpers/program.ts'
import {startSeveral, type SeveralServers} from '../../helpers/several-servers.ts'
import {save, testAuthority, testLeaf, validAround} from '../../pki/support.ts'

describeWithEtcd('three servers behind one address', function () {
  this.timeout(120_000)
  let folder = ''
  const path = (name: string) => join(folder, name)
  let etcd: EtcdCluster
  let several: SeveralServers
  let admin: ApiClient

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-several-etcd-'))
    const authority = await testAuthority({validity: validAround(new Date())})
    const leaf = async (name: string) => {
      const {pem, keys} = await testLeaf(authority.issuer, {
        names: {...NO_NAMES, ips: ['127.0.0.1']},
        usages: ['digital signature', 'server auth', 'client auth'],
        validity: validAround(new Date()),
      })
      await save(folder, {[`${name}.crt`]: pem, [`${name}.key`]: privateKeyPem(keys.privateKey)})
      return ['--cert-file', path(`${name}.crt`), '--key-file', path(`${name}.key`)]
    }
    await save(folder, {'ca.crt': authority.pem})
    const server = await leaf('server')
    await leaf('client')
    const args = ['--client-cert-auth', '--trusted-ca-file', path('ca.crt'), ...server]
    etcd = await startEtcd({members: 3, scheme: 'https', args})
    several = await startSeveral(3, [
      ...['--etcd-servers', etcd.servers.join(','), '--etcd-prefix', 'e2e/several'],
      ...['--etcd-cafile', path('ca.crt'), '--etcd-certfile', path('client.crt')],
      ...['--etcd-keyfile', path('client.key')],
    ])
    admin = await connect(several.first.kubeconfig)
  })
  after(async () => {
    try {
      await admin.close()
      await several.stop()
    } finally {
      await etcd.stop()
      await rm(folder, {recursive: true, force: true})
    }
  })

  const machine = (index: number) => several.machines[index]?.dir ?? ''
  const pki = (index: number, name: string) => readFile(join(machine(index), 'pki', name), 'utf8')
  const servers = async () => {
    const {stdout, stderr} = await trustadm('status', '--dir', machine(0), '--output', 'json')
    assert.notEqual(stdout, '', stderr)
    return (JSON.parse(stdout) as StatusReport).servers
  }

  it('are made by init and by the line that it prints', async () => {
    const {machines, first, balancer} = several
    for (const {dir, printed} of machines) {
      assert.equal(printed.endpoint, `https://127.0.0.1:${balancer.port}`)
      assert.deepEqual([printed.dir, printed.kubeconfig], [dir, join(dir, 'admin.conf')])
    }
    assert.match(first.controlPlaneJoinCommand ?? '', /--control-plane --certificate-key [0-9a-f]/)
    const known = await servers()
    assert.deepEqual(
      known.map(({alive}) => alive),
      [true, true, true],
    )
    const [, second, third] = machines.map(({printed}) => (printed as JoinedPlane).server)
    const names = known.map(({name}) => name)
    assert.ok(names.includes(second ?? '') && names.includes(third ?? ''), names.join(' '))
  })

  it('have the same CAs, each certificates of its own, and the one for etcd', async () => {
    for (const name of ['ca.crt', 'ca.key', 'sa.key', 'kubelet-serving-ca.key']) {
      assert.equal(await pki(1, name), await pki(0, name), name)
      assert.equal((await stat(join(machine(1), 'pki', name))).mode & 0o077, 0, name)
    }
    const own = new X509Certificate(await pki(1, 'apiserver.crt'))
    assert.ok(own.verify(new X509Certificate(await pki(1, 'ca.crt')).publicKey))
    assert.match(own.subjectAltName ?? '', /DNS:plane-1\b/)
    assert.notEqual(await pki(1, 'apiserver.key'), await pki(0, 'apiserver.key'))
    assert.equal(await pki(2, 'external-etcd.key'), await readFile(path('client.key'), 'utf8'))
  })

  it('publish where etcd is, by names that a machine of kubeadm has too', async () => {
    const {data = {}} = await admin.configMaps.get('kube-system/kubeadm-config')
    const {etcd: published} = parse(data.ClusterConfiguration ?? '') as {etcd: object}
    assert.deepEqual(published, {
      external: {
        caFile: '/etc/kubernetes/pki/external-etcd-ca.crt',
        certFile: '/etc/kubernetes/pki/external-etcd.crt',
        endpoints: etcd.servers,
        keyFile: '/etc/kubernetes/pki/external-etcd.key',
      },
    })
    const common = parse(data.TrustadmConfiguration ?? '') as {etcdPrefix: string}
    assert.equal(common.etcdPrefix, '/e2e/several')
  })

  it('stay as they are if the command is repeated, with the newest certificate for etcd', async () => {
    const before = await pki(1, 'apiserver.crt')
    await writeFile(join(machine(1), 'pki', 'external-etcd-ca.crt'), 'older', {mode: 0o600})
    const {code, stderr} = await several.join('plane-1')
    assert.equal(code, 0, stderr)
    assert.equal(await pki(1, 'apiserver.crt'), before)
    assert.equal(await pki(1, 'external-etcd-ca.crt'), await readFile(path('ca.crt'), 'utf8'))
    assert.equal((await servers()).length, 3)
  })

  it('are not mixed with another cluster in one folder', async () => {
    const folder = join(several.folder, 'other', 'pki')
    await mkdir(folder, {recursive: true, mode: 0o700})
    await writeFile(join(folder, 'ca.key'), 'another', {mode: 0o600})
    const {code, stderr} = await several.join('other')
    assert.equal(code, 6, stderr)
    assert.match(stderr, /ca\.key is not that of the cluster/)
  })

  it('mark the Node of a machine that has one', async () => {
    await admin.nodes.create({metadata: {name: 'plane-2'}})
    const {code, stderr} = await several.join('plane-2')
    assert.equal(code, 0, stderr)
    const {metadata, spec} = await admin.nodes.get('plane-2')
    assert.equal(metadata.labels?.['node-role.kubernetes.io/control-plane'], '')
    const effects = spec?.taints?.filter(({key}) => key === 'node-role.kubernetes.io/control-plane')
    assert.deepEqual(
      effects?.map(({effect}) => effect),
      ['NoSchedule'],
    )
  })

  describe('through the balancer', () => {
    const ok = async (...words: string[]) => {
      const {code, stdout, stderr} = await trustadm(...words)
      assert.equal(code, 0, stderr)
      return stdout
    }
    const asAdmin = () => ['--kubeconfig', several.first.kubeconfig]
    const counts = () =>
      several.balancer.targets.map((port) => several.balancer.counts.get(port) ?? 0)

    it('token, join and certificate work, each call at another server', async () => {
      const before = counts()
      const line = await ok('token', 'create', '--print-join-command', ...asAdmin())
      const [, ...words] = line.trim().split(' ')
      const [, id = ''] = /--token ([a-z0-9]{6})\./.exec(line) ?? []
      assert.match(await ok('token', 'list', ...asAdmin()), new RegExp(id))
      for (const name of ['node-a', 'node-b', 'node-c']) {
        await ok(...words, '--dir', join(several.folder, name), '--node-name', name)
        assert.ok(await admin.nodes.find(name), name)
      }
      const requests = await ok('certificate', 'list', ...asAdmin(), '--output', 'json')
      assert.match(requests, /node-a/)
      await ok('token', 'delete', id, ...asAdmin())
      assert.doesNotMatch(await ok('token', 'list', ...asAdmin()), new RegExp(id))
      for (const [index, count] of counts().entries())
        assert.ok(count > (before[index] ?? 0), `server ${index} was never asked`)
    })

    it('kubectl reads at each server what it wrote at another', async function () {
      const binary = findClient('kubectl-1.36') ?? findClient('kubectl')
      if (binary === undefined) return this.skip()
      const kubectl = new Kubectl({
        binary,
        kubeconfig: several.first.kubeconfig,
        home: folder,
        namespace: 'default',
      })
      for (let index = 0; index < 4; index++) {
        await kubectl.ok(`create configmap turn-${index} --from-literal=of=${index}`)
        const read = `get configmap turn-${index} -o jsonpath={.data.of}`
        assert.equal(await kubectl.ok(read), String(index))
        await kubectl.ok(`label configmap turn-${index} seen=yes`)
        assert.match(await kubectl.ok('get configmaps -l seen=yes -o name'), /turn-/)
        await kubectl.ok(`delete configmap turn-${index}`)
        await kubectl.fails(read)
      }
    })

    it('go on when a server is gone, and has come back', async () => {
      const [{dir, port} = {dir: '', port: 0}] = several.machines.slice(1)
      await ok('stop', '--dir', dir)
      assert.equal((await servers()).length, 2)
      const stopped = await trustadm('status', '--dir', dir, '--output', 'json')
      const {server, servers: others, differences} = JSON.parse(stopped.stdout) as StatusReport
      assert.deepEqual([server.running, server.problems, differences], [false, [], []])
      assert.deepEqual(
        others.map(({alive}) => alive),
        [true, true],
      )
      for (let index = 0; index < 3; index++) await ok('token', 'list', ...asAdmin())
      const before = several.balancer.counts.get(port) ?? 0
      await ok('start', '--dir', dir)
      for (let index = 0; index < 3; index++) await ok('token', 'list', ...asAdmin())
      assert.ok((several.balancer.counts.get(port) ?? 0) > before)
    })
  })
})
