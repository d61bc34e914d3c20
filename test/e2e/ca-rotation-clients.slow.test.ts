import assert from 'node:assert/strict'
import {connect, connectTo} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../src/client/kubeconfig-files.ts'
import type {ServerAccess} from '../../src/client/server-access.ts'
import type {RotationReport} from '../../src/control-plane/ca-rotation/report.ts'
import {requestCertificate} from '../../src/node/certificate-manager/request-certificate.ts'
import {clientCertificate} from '../../src/node/client-certificate.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {systemClock} from '../../src/runtime.ts'
import {eventually} from '../controllers/signing/support.ts'
import {startCluster, type Cluster} from '../helpers/cluster.ts'
import {LiveClients} from '../helpers/live-clients.ts'
import {rotateIn} from '../helpers/rotating.ts'

/** 500 in all, with those that join and renew. */
const COUNTS = {http1Watches: 140, http2Watches: 140, keepAlive: 150, newConnections: 50}
const [JOINERS, RENEWERS] = [10, 10]
/** Milliseconds between two joins or renewals of one client: a node may ask for 60 certificates in an hour. */
const PAUSE = 2000

interface Pair {
  certificatePem: string
  keyPem: string
}

describe('500 clients that work while the CAs rotate', function () {
  this.timeout(240_000)
  let cluster: Cluster
  let current: Map<string, Pair>
  let joined: number
  const access = async (): Promise<ServerAccess> =>
    resolveAccess(await loadKubeconfig(cluster.kubeconfig))
  const rotate = (action: string, ...more: string[]) => rotateIn(cluster.dir, action, ...more)

  beforeEach(async () => {
    cluster = await startCluster()
    current = new Map()
    joined = 0
  })
  afterEach(() => cluster.stop())

  /** A certificate for a node, by a token or by the certificate that it has. */
  const obtain = async (name: string, own: Partial<ServerAccess>): Promise<Pair> => {
    const {server, ca} = await access()
    const client = connectTo({server, ca, ...own}, {retry: {attempts: 1}})
    try {
      const how = {clock: systemClock}
      return await requestCertificate(client, clientCertificate(name), await generateKeys(), how)
    } finally {
      await client.close()
    }
  }
  const byToken = {bearerToken: () => Promise.resolve(cluster.token)}
  const renew = async (name: string) => {
    const {certificatePem: certificate, keyPem: key} = current.get(name) ?? assert.fail(name)
    current.set(name, await obtain(name, {clientCertificate: {certificate, key}}))
  }
  /** Until the certificates of all nodes that renew are of such a CA. */
  const untilIssuers = (isRight: (name: string) => boolean) =>
    eventually(() => {
      const leaves = [...current.values()].map((one) => parseCertificate(one.certificatePem))
      return Promise.resolve(leaves.every(({issuer}) => isRight(issuer.commonName)))
    })

  const startClients = async (): Promise<LiveClients> => {
    for (let one = 0; current.size < RENEWERS; one++) {
      current.set(`renewer-${one}`, await obtain(`renewer-${one}`, byToken))
    }
    const clients = await LiveClients.start(COUNTS, access)
    for (const name of current.keys()) clients.repeat('renewal', PAUSE, () => renew(name))
    for (let one = 0; one < JOINERS; one++) {
      clients.repeat('join', PAUSE, async () => {
        joined += 1
        await obtain(`joiner-${joined}`, byToken)
      })
    }
    return clients
  }
  /** Every watch still delivers what happens now. */
  const requireWatching = async ({watches}: LiveClients, name: string) => {
    const client = await connect(cluster.kubeconfig)
    await client.configMaps.create({metadata: {name, namespace: 'default'}})
    await client.close()
    assert.equal(watches.length, COUNTS.http1Watches + COUNTS.http2Watches)
    await eventually(() => Promise.resolve(watches.every((seen) => seen.has(name))))
  }
  /** Machines that joined and are gone: an operator has to say so. */
  const gone = ({dependents}: RotationReport): string[] =>
    dependents.map(({name}) => name).filter((name) => name.includes('joiner-'))
  const ignoring = (names: string[]) => (names.length === 0 ? [] : ['--ignore', names.join()])

  it('start and complete fail no request and cut no watch', async () => {
    const first = await startClients()
    const started = await rotate('start', '--yes')
    assert.equal(started.code, 0, started.stderr)
    await requireWatching(first, 'after-start')
    assert.deepEqual(first.failures, [])
    await untilIssuers((name) => name.startsWith('kubernetes-client-ca@'))
    await first.stop()
    assert.ok(first.answered > 500, String(first.answered))

    // People and programs have replaced their kubeconfigs.
    const second = await startClients()
    await eventually(async () => {
      const report = (await rotate('status')).report()
      return report.dependents.length === gone(report).length
    })
    const names = gone((await rotate('status')).report())
    const completed = await rotate('complete', '--yes', ...ignoring(names))
    assert.equal(completed.code, 0, completed.stderr)
    await requireWatching(second, 'after-complete')
    assert.deepEqual(second.failures, [])
    await second.stop()
    assert.ok(second.answered > 500, String(second.answered))
  })

  it('start and abort fail no request and cut no watch', async () => {
    const clients = await startClients()
    const started = await rotate('start', '--yes')
    assert.equal(started.code, 0, started.stderr)
    await untilIssuers((name) => name.startsWith('kubernetes-client-ca@'))

    const begun = await rotate('abort', '--yes')
    assert.ok([0, 5].includes(begun.code), begun.stderr)
    await untilIssuers((name) => name === 'kubernetes')
    const names = begun.code === 0 ? [] : gone((await rotate('status')).report())
    const aborted =
      begun.code === 0 ? begun : await rotate('abort', '--yes', '--wait', ...ignoring(names))
    assert.equal(aborted.code, 0, aborted.stderr)
    await requireWatching(clients, 'after-abort')
    assert.deepEqual(clients.failures, [])
    await clients.stop()
    assert.ok(clients.answered > 500, String(clients.answered))
    assert.deepEqual((await rotate('status')).report().action, undefined)
  })
})
