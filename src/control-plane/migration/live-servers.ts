import type {Lease} from '../../api/coordination.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import type {Storage} from '../../storage/storage.ts'
import {isServerLease, toServer} from '../server-identity.ts'

/** Where the API server keeps the Leases of its servers. */
const LEASES = '/registry/coordination.k8s.io/leases/kube-system/apiserver-'

/** Throws CONFLICT if a server has renewed its Lease lately: it would go on writing to a store that is being copied. */
export async function requireNoServers(
  storage: Pick<Storage, 'list'>,
  clock: Clock,
): Promise<void> {
  const now = clock.now()
  const {entries} = await storage.list(LEASES)
  const alive = entries
    .flatMap(({value}) => parseLease(value) ?? [])
    .filter(isServerLease)
    .map((lease) => toServer(lease, now))
    .find((server) => server.alive)
  if (!alive) return
  const where = alive.hostname === null ? '' : ` on ${alive.hostname}`
  throw new TrustError('CONFLICT', `a server${where} uses these keys in etcd`, {
    hints: [
      'stop all servers of the control plane with "trustadm stop", then run the command again',
      'one that was killed counts as running for 40 s',
    ],
    facts: {server: alive.name, hostname: alive.hostname},
  })
}

/** Undefined for what is no Lease: other programs may write there, too. */
function parseLease(value: Uint8Array): Lease | undefined {
  try {
    const lease = JSON.parse(Buffer.from(value).toString()) as Partial<Lease> | null
    return lease?.metadata ? (lease as Lease) : undefined
  } catch {
    return undefined
  }
}
