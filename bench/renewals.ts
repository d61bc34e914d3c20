import {connectTo} from '../src/client/connect.ts'
import {CertificateManager} from '../src/node/certificate-manager/certificate-manager.ts'
import {requestCertificate} from '../src/node/certificate-manager/request-certificate.ts'
import {clientCertificate} from '../src/node/client-certificate.ts'
import {generateKeys} from '../src/pki/keys.ts'
import type {RenewalOperations} from './processes/renewal-server.ts'
import {Worker} from './processes/worker.ts'
import {memoryStore} from './memory-store.ts'
import type {BenchRow} from './rows.ts'

const MANAGERS = 10_000
const AT_ONCE = 32
const BATCH = 500
const MINUTE = 60_000

interface Target {
  url: string
  ca: string
}

function managerOf(
  name: string,
  pair: {certificatePem: string; keyPem: string},
  {url, ca}: Target,
  clock: {now: () => Date},
): CertificateManager {
  return new CertificateManager({
    store: memoryStore(pair.certificatePem, pair.keyPem),
    wanted: () => clientCertificate(name),
    obtain: async (wanted, current, signal) => {
      const clientCertificate = current && {
        certificate: current.certificatePem,
        key: current.keyPem,
      }
      const client = connectTo({server: url, ca, clientCertificate}, {oneAtATime: true})
      try {
        return await requestCertificate(client, wanted, await generateKeys(), {clock, signal})
      } finally {
        await client.close()
      }
    },
    clock,
  })
}

/** A fleet that joined all at once, on a simulated clock: when it renews, and what that costs the server. */
export async function benchRenewals(): Promise<BenchRow[]> {
  const worker = await Worker.start<RenewalOperations>('renewal-server')
  try {
    let now = Date.now()
    const clock = {now: () => new Date(now)}
    const target = await worker.call('start', now)
    const managers: CertificateManager[] = []
    while (managers.length < MANAGERS) {
      const names = Array.from({length: BATCH}, (_, index) => `node-${managers.length + index}`)
      const pairs = await worker.call('firstPairs', names)
      managers.push(
        ...pairs.map((pair, index) => managerOf(names[index] ?? '', pair, target, clock)),
      )
    }
    for (const manager of managers) await manager.load()

    const before = await worker.call('processorTime', undefined)
    const perMinute: number[] = []
    for (let left = MANAGERS; left > 0; now += MINUTE) {
      await worker.call('setTime', now)
      const due = managers.filter(({isDue, lastAttempt}) => isDue && !lastAttempt)
      perMinute.push(due.length)
      left -= due.length
      await Promise.all(
        Array.from({length: AT_ONCE}, async () => {
          for (let one = due.pop(); one; one = due.pop())
            await one.renew(new AbortController().signal)
        }),
      )
    }
    const took = (await worker.call('processorTime', undefined)) - before
    const busy = perMinute.filter((count) => count > 0)
    const [busiest, mean] = [Math.max(...busy), MANAGERS / busy.length]
    return [
      {
        name: `${MANAGERS} nodes that joined at once: renewals in the busiest minute`,
        value: busiest / mean,
        unit: 'of the mean',
        beside: `${busiest}, in ${busy.length} minutes, ${perMinute.length - busy.length} after joining`,
        goal: {atMost: 2},
      },
      {
        name: 'server processor time a renewal',
        value: took / MANAGERS,
        unit: 'ms',
        beside: 'a new connection, request, approval, signature and watch',
      },
    ]
  } finally {
    await worker.call('stop', undefined).finally(() => worker.stop())
  }
}
