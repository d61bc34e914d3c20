import assert from 'node:assert/strict'
import {connectTo} from '../../../src/client/connect.ts'
import type {ServerAccess} from '../../../src/client/server-access.ts'
import type {RotationReport} from '../../../src/control-plane/ca-rotation/report.ts'
import {requestCertificate} from '../../../src/node/certificate-manager/request-certificate.ts'
import {clientCertificate} from '../../../src/node/client-certificate.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {systemClock} from '../../../src/runtime.ts'
import {eventually} from '../../controllers/signing/support.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import type {LiveClients} from '../../helpers/live-clients.ts'
import {rotateIn} from '../../helpers/rotating.ts'
import {startSeveral, type SeveralServers} from '../../helpers/several-servers.ts'
import {accessTo, requireSame, requireUnharmed, startClients} from './support.ts'

/** Of each of three servers: 500 in all, with those that join and renew. */
const COUNTS = {http1Watches: 48, http2Watches: 48, keepAlive: 48, newConnections: 16}
const [JOINERS, RENEWERS] = [10, 10]
/** Milliseconds between two joins or renewals of one client: a node may ask for 60 certificates in an hour. */
const PAUSE = 4000

interface Pair {
  certificatePem: string
  keyPem: string
}

describeWithEtcd('500 clients of three servers that work while the CAs rotate', function () {
  this.timeout(600_000)
  let etcd: EtcdCluster
  let several: SeveralServers
  const current = new Map<string, Pair>()
  let turn = 0

  before(async () => {
    etcd = await startEtcd()
    several = await startSeveral(3, ['--etcd-servers', etcd.servers.join(',')])
  })
  after(async () => {
    await several.stop()
    await etcd.stop()
  })

  const machine = (index: number) => several.machines[index % 3] ?? assert.fail()
  const rotate = (index: number, action: string, ...more: string[]) =>
    rotateIn(machine(index).dir, action, ...more)
  /** A certificate for a node, by a token or by the certificate that it has, from another server each time. */
  const obtain = async (name: string, own: Partial<ServerAccess>): Promise<Pair> => {
    const one = machine((turn += 1))
    const {server, ca} = await accessTo(one, one)
    const client = connectTo({server, ca, ...own}, {retry: {attempts: 1}})
    try {
      const how = {clock: systemClock}
      return await requestCertificate(client, clientCertificate(name), await generateKeys(), how)
    } finally {
      await client.close()
    }
  }
  const byToken = {bearerToken: () => Promise.resolve(several.first.token ?? '')}
  const renew = async (name: string) => {
    const {certificatePem: certificate, keyPem: key} = current.get(name) ?? assert.fail(name)
    current.set(name, await obtain(name, {clientCertificate: {certificate, key}}))
  }
  const untilRenewed = () =>
    eventually(() => {
      const leaves = [...current.values()].map((one) => parseCertificate(one.certificatePem))
      const isNew = (name: string) => name.startsWith('kubernetes-client-ca@')
      return Promise.resolve(leaves.every(({issuer}) => isNew(issuer.commonName)))
    })
  const start = async (): Promise<LiveClients[]> => {
    for (let one = 0; current.size < RENEWERS; one++)
      current.set(`renewer-${one}`, await obtain(`renewer-${one}`, byToken))
    const clients = await startClients(several.machines, COUNTS)
    const [first] = clients
    for (const name of current.keys()) first?.repeat('renewal', PAUSE, () => renew(name))
    for (let one = 0; one < JOINERS; one++) {
      first?.repeat('join', PAUSE, async () => {
        await obtain(`joiner-${(turn += 1)}`, byToken)
      })
    }
    return clients
  }
  /** Every watch, at whichever server, still delivers what happens now at one of them. */
  const requireWatching = async (clients: readonly LiveClients[], name: string) => {
    const client = connectTo(await accessTo(machine(0), machine(0)))
    await client.configMaps.create({metadata: {name, namespace: 'default'}})
    await client.close()
    const watches = clients.flatMap((one) => one.watches)
    await eventually(() => Promise.resolve(watches.every((seen) => seen.has(name))))
  }
  /** Machines that joined and are gone: an operator has to say so. */
  const gone = ({dependents}: RotationReport): string[] =>
    dependents.map(({name}) => name).filter((name) => name.includes('joiner-'))

  it('start and complete fail no request and cut no watch at any server', async () => {
    const before = await start()
    const started = await rotate(0, 'start', '--yes')
    assert.equal(started.code, 0, started.stderr)
    await requireWatching(before, 'after-start')
    await untilRenewed()
    await requireUnharmed(before, COUNTS)

    // People and programs have replaced their kubeconfigs.
    const after = await start()
    await eventually(async () => {
      const report = (await rotate(1, 'status')).report()
      return report.dependents.length === gone(report).length
    })
    const names = gone((await rotate(1, 'status')).report())
    const ignoring = names.length === 0 ? [] : ['--ignore', names.join()]
    const completed = await rotate(1, 'complete', '--yes', ...ignoring)
    assert.equal(completed.code, 0, completed.stderr)
    await requireWatching(after, 'after-complete')
    await requireUnharmed(after, COUNTS)
    await eventually(() =>
      requireSame(several.machines).then(
        () => true,
        () => false,
      ),
    )
  })
})
