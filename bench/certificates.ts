import {spawnSync} from 'node:child_process'
import {connect} from '../src/client/connect.ts'
import {API_SERVER_CLIENT} from '../src/csr/signers.ts'
import {generateKeys} from '../src/pki/keys.ts'
import {createPlainRequest} from '../src/pki/create.ts'
import {PROGRAM, startCluster, type Cluster} from '../test/helpers/cluster.ts'
import type {SigningOperations} from './processes/signing-server.ts'
import {Worker} from './processes/worker.ts'
import {compared, median, milliseconds, type BenchRow} from './rows.ts'

const REQUESTS = 2000
const ROUNDS = 3
const LIST_ROUNDS = 5
const LISTED = 10_000
const AT_ONCE = 64
const LIMIT = 'node:crypto: as many signed and verified'

/** It alone would cost more than twice the start of Node. */
const {NODE_EXTRA_CA_CERTS: _, ...ENVIRONMENT} = process.env

/** Certificates signed by the controllers of a durable server, and a long list of requests as a person sees it. */
export async function benchCertificates(): Promise<BenchRow[]> {
  return [...(await benchSigning()), ...(await benchList())]
}

async function benchSigning(): Promise<BenchRow[]> {
  const worker = await Worker.start<SigningOperations>('signing-server')
  try {
    await worker.call('start', undefined)
    const signed: number[] = []
    const whole: number[] = []
    const raw: number[] = []
    // The first round of each warms up and is not counted.
    for (let round = 0; round <= ROUNDS; round++) {
      signed.push(await worker.call('signAll', {count: REQUESTS, fromTheStart: false}))
      whole.push(await worker.call('signAll', {count: REQUESTS, fromTheStart: true}))
      raw.push(await worker.call('signAndVerify', REQUESTS))
    }
    const rate = (times: number[]) => (REQUESTS / median(times.slice(1))) * 1000
    const limit = [rate(raw), LIMIT] as const
    return [
      compared('requests signed', rate(signed), 'per s', limit, {atLeast: 0.25}),
      compared('requests made, approved, signed', rate(whole), 'per s', limit),
    ]
  } finally {
    await worker.call('stop', undefined).finally(() => worker.stop())
  }
}

async function fill({kubeconfig}: Cluster): Promise<void> {
  const client = await connect(kubeconfig)
  const keys = await generateKeys('ECDSA-P256')
  const request = Buffer.from(await createPlainRequest({commonName: 'bench'}, keys))
  const spec = {
    request: request.toString('base64'),
    signerName: API_SERVER_CLIENT,
    usages: ['client auth'],
  }
  let next = 0
  await Promise.all(
    Array.from({length: AT_ONCE}, async () => {
      while (next < LISTED) {
        // Decided ones: no requester may leave so many pending.
        const csr = await client.csrs.create({metadata: {name: `bench-${next++}`}, spec})
        const conditions = [{type: 'Denied', status: 'True' as const, reason: 'Bench'}]
        await client.csrs.updateSubresource('approval', {...csr, status: {conditions}})
      }
    }),
  )
  await client.close()
}

async function benchList(): Promise<BenchRow[]> {
  const cluster = await startCluster()
  const run = (args: readonly string[]) =>
    milliseconds(() => {
      const {status, stderr} = spawnSync(process.execPath, args, {
        env: ENVIRONMENT,
        stdio: ['ignore', 'ignore', 'pipe'],
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`)
      return Promise.resolve()
    })
  try {
    const list = [PROGRAM, 'certificate', 'list', '--kubeconfig', cluster.kubeconfig]
    const empty: number[] = []
    const full: number[] = []
    for (let round = 0; round <= LIST_ROUNDS; round++) empty.push(await run(list))
    await fill(cluster)
    for (let round = 0; round <= LIST_ROUNDS; round++) full.push(await run(list))
    const beside = [median(empty.slice(1)), 'with none'] as const
    return [
      compared(`certificate list with ${LISTED} requests`, median(full.slice(1)), 'ms', beside),
    ]
  } finally {
    await cluster.stop()
  }
}
