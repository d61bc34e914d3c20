import {spawnSync} from 'node:child_process'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {parseCertificate} from '../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../src/pki/create.ts'
import {createIssuer, issueLeaf} from '../src/pki/issuer.ts'
import {generateKeys, privateKeyPem} from '../src/pki/keys.ts'
import {authorityValidity} from '../src/pki/lifetimes.ts'
import {namesOfHosts} from '../src/pki/subject-names.ts'
import {systemClock} from '../src/runtime.ts'
import {PROGRAM, startCluster, type Cluster} from '../test/helpers/cluster.ts'
import type {Joined, JoinerOperations} from './processes/joiner.ts'
import type {LeastJoinOperations} from './processes/least-join-server.ts'
import type {Target} from './processes/target.ts'
import {Worker} from './processes/worker.ts'
import {compared, median, milliseconds, type BenchRow} from './rows.ts'

const AT_ONCE = 64
const CROWD = 640
const ROUNDS = 3
const SINGLE_ROUNDS = 9
const SIZES = [0, 1000, 10_000]
const LEAST = 'two handshakes, one check, one signature, three durable writes'

/** It alone would cost more than twice the start of Node. */
const {NODE_EXTRA_CA_CERTS: _, ...ENVIRONMENT} = process.env

type Joiner = Worker<JoinerOperations>

/** Machines that join the built program's own server, beside what a join cannot do without. */
export async function benchJoins(): Promise<BenchRow[]> {
  const cluster = await startCluster()
  const joiner = await Worker.start<JoinerOperations>('joiner')
  try {
    const single = await benchSingle(cluster)
    const sustained = await benchSustained(cluster, joiner)
    return [...single, ...sustained, ...(await benchGrown(joiner))]
  } finally {
    await joiner.stop()
    await cluster.stop()
  }
}

const perSecond = ({took, each}: Joined): number => (each.length / took) * 1000

function quantile({each}: Joined, part: number): number {
  const sorted = [...each].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

let crowds = 0

const joinAll = ({endpoint, token, caCertHashes}: Cluster, joiner: Joiner, count = CROWD) =>
  joiner.call('joins', {
    endpoint: new URL(endpoint).host,
    token,
    pins: caCertHashes,
    prefix: `crowd${crowds++}`,
    count,
    atOnce: AT_ONCE,
  })

/** A certificate that serves and asks, for both ends of the least connection. */
async function credentialsOfBoth(): Promise<Omit<Target, 'port'>> {
  const now = systemClock.now()
  const authority = await generateKeys('ECDSA-P256')
  const validity = authorityValidity(now, 3_600_000)
  const ca = await createAuthorityCertificate({commonName: 'bench'}, authority, validity)
  const issuer = createIssuer(parseCertificate(ca), authority.privateKey)
  const {privateKey, publicKey} = await generateKeys('ECDSA-P256')
  const certificate = await issueLeaf(issuer, {
    subject: {commonName: 'localhost'},
    names: namesOfHosts(['localhost']),
    publicKey,
    usages: ['digital signature', 'server auth', 'client auth'],
    validity,
  })
  return {ca, certificate, key: privateKeyPem(privateKey)}
}

/** The machine's own limit, taken in turns with the joins. */
async function benchSustained(cluster: Cluster, joiner: Joiner): Promise<BenchRow[]> {
  const limit = await Worker.start<LeastJoinOperations>('least-join-server')
  const tls = await credentialsOfBoth()
  try {
    const target = {...tls, port: await limit.call('start', tls)}
    const own: Joined[] = []
    const least: Joined[] = []
    // The first round of each warms up and is not counted.
    for (let round = 0; round <= ROUNDS; round++) {
      own.push(await joinAll(cluster, joiner))
      least.push(await joiner.call('leastJoins', {target, count: CROWD, atOnce: AT_ONCE}))
    }
    const row = (name: string, unit: string, pick: (joined: Joined) => number) =>
      compared(name, median(own.slice(1).map(pick)), unit, [
        median(least.slice(1).map(pick)),
        LEAST,
      ])
    return [
      row(`joins, ${AT_ONCE} at once`, 'per s', perSecond),
      row('a join among them: half take no longer', 'ms', (one) => quantile(one, 0.5)),
      row('a join among them: 99 of 100 take no longer', 'ms', (one) => quantile(one, 0.99)),
    ]
  } finally {
    await limit.call('stop', undefined).finally(() => limit.stop())
  }
}

/** One `trustadm join` by the built program, start and all. */
async function benchSingle({endpoint, token, caCertHashes}: Cluster): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  const run = (args: readonly string[]) =>
    milliseconds(() => {
      const {status, stderr} = spawnSync(process.execPath, args, {
        env: {...ENVIRONMENT, TRUSTADM_TOKEN: token},
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`)
      return Promise.resolve()
    })
  try {
    const joins: number[] = []
    const starts: number[] = []
    for (let round = 0; round <= SINGLE_ROUNDS; round++) {
      const node = ['--node-name', `single-${round}`, '--dir', join(folder, `${round}`)]
      const pins = caCertHashes.flatMap((pin) => ['--discovery-token-ca-cert-hash', pin])
      starts.push(await run(['-e', '0']))
      joins.push(await run([PROGRAM, 'join', new URL(endpoint).host, '--quiet', ...pins, ...node]))
    }
    const started = median(starts.slice(1))
    return [compared('one join', median(joins.slice(1)), 'ms', [started, 'node -e 0'])]
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

/** Joins when few and when many nodes have joined before; the clusters take turns. */
async function benchGrown(joiner: Joiner): Promise<BenchRow[]> {
  const grown: {size: number; cluster: Cluster; rates: number[]}[] = []
  try {
    for (const size of SIZES) {
      const cluster = await startCluster()
      grown.push({size, cluster, rates: []})
      if (size > 0) await joinAll(cluster, joiner, size)
    }
    for (let round = 0; round <= ROUNDS; round++) {
      for (const {cluster, rates} of grown)
        rates.push(perSecond(await joinAll(cluster, joiner, 256)))
    }
    const rates = grown.map(({size, rates: all}) => ({size, rate: median(all.slice(1))}))
    const [empty] = rates
    if (empty === undefined) return []
    return rates.map(({size, rate}) =>
      compared(`joins with ${size} nodes joined before`, rate, 'per s', [
        empty.rate,
        'none before; at least 0.77',
      ]),
    )
  } finally {
    for (const {cluster} of grown) await cluster.stop()
  }
}
