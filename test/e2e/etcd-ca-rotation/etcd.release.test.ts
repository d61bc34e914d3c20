import assert from 'node:assert/strict'
import {cp, readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {connectTo} from '../../../src/client/connect.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {eventually} from '../../controllers/signing/support.ts'
import {describeWithOwnEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import type {LiveClients} from '../../helpers/live-clients.ts'
import {trustadm} from '../../helpers/program.ts'
import {rotateIn} from '../../helpers/rotating.ts'
import {startSeveral, type SeveralServers} from '../../helpers/several-servers.ts'
import {
  accessTo,
  pki,
  requireSame,
  requireUnharmed,
  startClients,
} from '../ca-rotation-servers/support.ts'

const ONLY = ['--only', 'etcd-ca']

describeWithOwnEtcd('the CA of its three members rotates under three servers', function () {
  this.timeout(300_000)
  let etcd: EtcdCluster | undefined
  let several: SeveralServers
  let clients: LiveClients[]
  let written = 0

  /** As an operator does: the PKI first, then the members with it, then the servers. */
  before(async () => {
    several = await startSeveral(3, async (dir, flags) => {
      const {code, stderr} = await trustadm('init', 'phase', 'certs', 'etcd', ...flags)
      assert.equal(code, 0, stderr)
      const file = (name: string) => join(dir, 'pki', 'etcd', name)
      const args = (peer: '' | 'peer-', name: string) => [
        ...[`--${peer}client-cert-auth`, `--${peer}trusted-ca-file`, file('ca.crt')],
        ...[`--${peer}cert-file`, file(`${name}.crt`), `--${peer}key-file`, file(`${name}.key`)],
      ]
      etcd = await startEtcd({
        members: 3,
        scheme: 'https',
        peerScheme: 'https',
        args: [...args('', 'server'), ...args('peer-', 'peer')],
      })
      return ['--etcd-servers', etcd.servers.join(',')]
    })
  })
  after(async () => {
    await several.stop()
    await etcd?.stop()
  })

  beforeEach(async () => (clients = await startClients(several.machines)))
  afterEach(() => Promise.all(clients.map((one) => one.stop())))

  const machine = (index: number) => several.machines[index] ?? assert.fail()
  const rotate = async (index: number, action: string, ...more: string[]) => {
    const ended = await rotateIn(machine(index).dir, action, '--yes', ...more)
    assert.equal(ended.code, 0, ended.stderr)
    return ended.report()
  }
  /** One after the other, so that two of the three always work. */
  const restartMembers = async (running = several.machines) => {
    for (const member of etcd?.members ?? []) {
      await member.kill('SIGTERM')
      await member.start()
      await requireWritable(running)
    }
  }
  /** Every server reads and writes, at once. */
  const requireWritable = async (running = several.machines) => {
    for (const one of running) {
      const client = connectTo(await accessTo(one, one), {retry: {attempts: 1}})
      const metadata = {namespace: 'default', name: `written-${written++}`}
      await client.configMaps.create({metadata})
      assert.ok(await client.configMaps.find(metadata))
      await client.close()
    }
  }
  const namesIn = async (index: number, file: string) =>
    parseBundle(await pki(machine(index).dir, file)).map(({subject}) => subject.commonName)
  const issuerOf = async (index: number, file: string) =>
    parseCertificate(await pki(machine(index).dir, file)).issuer.commonName
  /** The CAs that each machine knows etcd by, and the CA of what it shows to it. */
  const forEtcd = async () => [
    [await namesIn(0, 'etcd/ca.crt'), await issuerOf(0, 'apiserver-etcd-client.crt')],
    [await namesIn(1, 'external-etcd-ca.crt'), await issuerOf(1, 'external-etcd.crt')],
    [await namesIn(2, 'external-etcd-ca.crt'), await issuerOf(2, 'external-etcd.crt')],
  ]
  const requireForEtcd = async (cas: string[], issuer: string) => {
    const wanted = JSON.stringify(several.machines.map(() => [cas, issuer]))
    await eventually(async () => JSON.stringify(await forEtcd()) === wanted).catch(async () =>
      assert.equal(JSON.stringify(await forEtcd()), wanted),
    )
  }
  const requireNoFailure = async () => {
    await requireWritable()
    await requireUnharmed(clients)
    for (const {dir} of several.machines)
      assert.ok(!(await readdir(join(dir, 'pki'))).includes('rotation'), dir)
  }

  it('start, complete and restarts of all members fail no request at any server', async () => {
    await rotate(0, 'start', ...ONLY)
    const [old = '', next = ''] = await namesIn(0, 'etcd/ca.crt')
    await requireForEtcd([old, next], old)
    // Each member is asked, for clients and for other members, whatever the operator says.
    const refused = await rotateIn(machine(0).dir, 'complete', '--yes', '--ignore', 'etcd')
    assert.equal(refused.code, 6, refused.stderr)
    assert.match(refused.stderr, /6 members of etcd do not trust the new CA/)
    await restartMembers()

    await rotate(0, 'complete')
    await requireForEtcd([next], next)
    await restartMembers()
    await requireNoFailure()
  })

  it('abort leaves the CA and the certificates of before', async () => {
    const before = await forEtcd()
    await rotate(0, 'start', ...ONLY)
    await restartMembers()
    await rotate(0, 'abort', '--wait')
    const [[cas, issuer] = []] = before
    await requireForEtcd(cas as string[], issuer as string)
    await restartMembers()
    await requireNoFailure()
  })

  it('is begun and completed on a machine that joined, as on the first one', async () => {
    await rotate(1, 'start', ...ONLY)
    const [old = '', next = ''] = await namesIn(1, 'etcd/ca.crt')
    await requireForEtcd([old, next], old)
    await restartMembers()
    await rotate(2, 'complete', '--ignore', 'etcd')
    await requireForEtcd([next], next)
    await restartMembers()
    await requireNoFailure()
  })

  it('is caught up by a machine that was off, once it has the new files for etcd', async () => {
    await Promise.all(clients.map((one) => one.stop()))
    const [first, late] = [machine(0), machine(2)]
    assert.equal((await trustadm('stop', '--dir', late.dir)).code, 0)
    await rotate(0, 'start')
    await restartMembers([first, machine(1)])
    await rotate(0, 'complete', '--force')
    await restartMembers([first, machine(1)])

    const files = {
      'etcd/ca.crt': 'external-etcd-ca.crt',
      'apiserver-etcd-client.crt': 'external-etcd.crt',
      'apiserver-etcd-client.key': 'external-etcd.key',
    }
    for (const [from, to] of Object.entries(files))
      await cp(join(first.dir, 'pki', from), join(late.dir, 'pki', to))
    const started = await trustadm('start', '--dir', late.dir)
    assert.equal(started.code, 0, started.stderr)
    await requireSame(several.machines)
    assert.equal(await pki(late.dir, 'etcd/ca.key'), await pki(first.dir, 'etcd/ca.key'))
    await requireWritable()
  })
})
