import {execFile} from 'node:child_process'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {formatClusterInfo} from '../src/bootstrap/cluster-info.ts'
import {connect, connectTo} from '../src/client/connect.ts'
import type {ServerAccess} from '../src/client/server-access.ts'
import {pinsOf, type TrustedClusterInfo} from '../src/discovery/cluster-info.ts'
import {refreshClusterInfo} from '../src/discovery/refresh.ts'
import {CertificateManager} from '../src/node/certificate-manager/certificate-manager.ts'
import {requestCertificate} from '../src/node/certificate-manager/request-certificate.ts'
import {clientCertificate} from '../src/node/client-certificate.ts'
import {kubeletAuthorities} from '../src/node/cluster-info-store.ts'
import {formatTrustReport, reportedCertificate, TRUST_REPORT} from '../src/node/trust-report.ts'
import {parseBundle} from '../src/pki/bundle.ts'
import {parseCertificate} from '../src/pki/certificate.ts'
import {createIssuer} from '../src/pki/issuer.ts'
import {generateKeys, parsePrivateKey} from '../src/pki/keys.ts'
import {pinOf} from '../src/pki/pins.ts'
import {systemClock} from '../src/runtime.ts'
import {inParallel} from '../test/helpers/in-parallel.ts'
import {PROGRAM, startCluster, type Cluster} from '../test/helpers/cluster.ts'
import {usageOf} from '../test/helpers/usage.ts'
import {firstPair} from './first-pair.ts'
import {memoryStore} from './memory-store.ts'
import type {ProbeOperations} from './processes/rotation-probe.ts'
import {Worker} from './processes/worker.ts'
import {compared, milliseconds, type BenchRow} from './rows.ts'

const NODES = 1000
/** Nodes that only renew, before the rotation. */
const BEFORE = 200
/** Few: they are on the same machine as the server, and real ones are not. */
const AT_ONCE = 8

const run = promisify(execFile)

/** A node without its disk: what `node run` does when the CAs change. */
class BenchNode {
  readonly name: string
  readonly #manager: CertificateManager
  #info: TrustedClusterInfo

  constructor(
    name: string,
    pair: {certificatePem: string; keyPem: string},
    info: TrustedClusterInfo,
  ) {
    this.name = name
    this.#info = info
    this.#manager = new CertificateManager({
      store: memoryStore(pair.certificatePem, pair.keyPem),
      wanted: () => clientCertificate(name),
      obtain: async (wanted, current, signal) => {
        const client = connectTo(this.#access(current), {oneAtATime: true})
        try {
          const keys = await generateKeys()
          return await requestCertificate(client, wanted, keys, {clock: systemClock, signal})
        } finally {
          await client.close()
        }
      },
      clock: systemClock,
    })
  }

  load(): Promise<unknown> {
    return this.#manager.load()
  }

  async renew(): Promise<void> {
    await this.#manager.renew(new AbortController().signal)
  }

  get report(): string {
    const {current} = this.#manager
    if (!current) throw new Error('there is no certificate')
    const client = reportedCertificate(parseCertificate(current.certificatePem))
    const callers = parseBundle(kubeletAuthorities(this.#info) ?? '')
    const kubeletClients = [...new Set(callers.map(pinOf))]
    return formatTrustReport({trusts: this.#info.pins, kubeletClients, client})
  }

  /** Reads cluster-info, renews, and reports that. */
  async follow(): Promise<void> {
    const {info, problem} = await refreshClusterInfo(this.#info, {clock: systemClock})
    if (problem) throw problem
    this.#info = info
    await this.renew()
    const client = connectTo(this.#access(this.#manager.current), {oneAtATime: true})
    try {
      const metadata = {annotations: {[TRUST_REPORT]: this.report}}
      await client.nodes.patch(this.name, {metadata}, {type: 'merge'})
    } finally {
      await client.close()
    }
  }

  #access(pair: {certificatePem: string; keyPem: string} | undefined): ServerAccess {
    const {server, ca} = this.#info
    return {
      server,
      ca,
      ...(pair && {clientCertificate: {certificate: pair.certificatePem, key: pair.keyPem}}),
    }
  }
}

/** Nodes as they are after they have joined. */
async function createNodes({dir, endpoint, kubeconfig}: Cluster): Promise<BenchNode[]> {
  const read = (name: string) => readFile(join(dir, 'pki', name), 'utf8')
  const ca = await read('ca.crt')
  const issuer = createIssuer(parseCertificate(ca), parsePrivateKey(await read('ca.key')))
  const info: TrustedClusterInfo = {
    server: endpoint,
    ca,
    pins: pinsOf(parseBundle(ca)),
    endpoints: [],
    kubeconfig: formatClusterInfo({server: endpoint, ca}),
    source: 'file',
    warnings: [],
  }
  const nodes: BenchNode[] = []
  for (let number = 0; number < NODES; number++) {
    const name = `node-${number}`
    const node = new BenchNode(name, await firstPair(name, issuer, systemClock.now()), info)
    await node.load()
    nodes.push(node)
  }
  const admin = await connect(kubeconfig)
  await inParallel(
    nodes,
    async (node) => {
      const annotations = {[TRUST_REPORT]: node.report}
      await admin.nodes.create({metadata: {name: node.name, annotations}})
    },
    AT_ONCE,
  )
  await admin.close()
  return nodes
}

const rotate = (dir: string, action: string, ...more: string[]) =>
  run(process.execPath, [PROGRAM, 'ca', 'rotate', action, '--yes', '--dir', dir, ...more])

/** All CAs of a cluster with many nodes, which follow as fast as the server lets them. */
export async function benchRotation(): Promise<BenchRow[]> {
  const cluster = await startCluster()
  const probe = await Worker.start<ProbeOperations>('rotation-probe')
  try {
    const {dir, kubeconfig} = cluster
    const {pid} = JSON.parse(await readFile(join(dir, 'server.json'), 'utf8')) as {pid: number}
    const processor = () => (usageOf(pid)?.processor ?? Number.NaN) * 1000
    const nodes = await createNodes(cluster)

    /** Does something, and sees how long a client waits meanwhile and what the server takes. */
    const measured = async (work: () => Promise<unknown>) => {
      await probe.call('start', kubeconfig)
      const before = processor()
      const took = await milliseconds(work)
      return {took, cpu: processor() - before, pause: await probe.call('stop', undefined)}
    }
    const calm = await measured(() =>
      inParallel(nodes.slice(0, BEFORE), (node) => node.renew(), AT_ONCE),
    )
    const started = await measured(() => rotate(dir, 'start'))
    const followed = await measured(() => inParallel(nodes, (node) => node.follow(), AT_ONCE))
    const completed = await measured(() =>
      rotate(dir, 'complete', '--ignore', 'replaced-here,kubernetes-admin'),
    )
    const parts = [started, followed, completed]
    const seconds = (value: number) => (value / 1000).toFixed(1)
    const [whole, longest] = [
      parts.reduce((sum, {took}) => sum + took, 0),
      Math.max(...parts.map(({pause}) => pause)),
    ]
    const pauses = parts.map(({pause}) => Math.round(pause)).join(', ')
    return [
      {
        name: `rotation of ${NODES} nodes`,
        value: whole / 1000,
        unit: 's',
        beside: `start ${seconds(started.took)}, nodes ${seconds(followed.took)}, complete ${seconds(completed.took)}`,
      },
      compared('server processor time a node', followed.cpu / NODES, 'ms', [
        calm.cpu / BEFORE,
        'a renewal without a rotation',
      ]),
      compared('the longest that a client waited', longest, 'ms', [
        calm.pause,
        `the same client while nodes renew without a rotation; start, nodes, complete: ${pauses}`,
      ]),
    ]
  } finally {
    await probe.stop()
    await cluster.stop()
  }
}
