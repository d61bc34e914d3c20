import type {ApiClient} from '../../client/api-client.ts'
import {elsewhere, TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import type {Plane} from '../config/plane.ts'
import {identityOf} from '../plane-storage.ts'
import {planeKeyId, readPlaneKey} from '../plane-key.ts'
import {PLANE_KEY} from '../server-digests.ts'
import {leaseNameOf, readServers, type KnownServer} from '../server-identity.ts'

type Leases = Pick<ApiClient, 'leases'>

/** A server that a rotation waits for, or would. */
export interface FollowingServer {
  name: string
  hostname: string | null
  /** What it has followed of the rotation. */
  generation: number
  state: 'up to date' | 'behind' | 'silent'
  /** Why it is behind, if it says so. */
  problem?: string
}

/** As in messages. */
export const labelOf = ({name, hostname}: Pick<KnownServer, 'name' | 'hostname'>): string =>
  `${name} on ${hostname ?? 'an unknown host'}`

const GONE_AFTER = 40_000
/** In seconds. No clock of a machine whose certificates work is wrong by so much. */
const SURELY_GONE = 300

/**
 * Which servers are alive. By their own clocks alone that cannot be told: one counts as gone if its Lease was not renewed while it was
 * looked at for 40 s.
 */
export class Liveness {
  readonly #seen = new Map<string, {renewedAt: string | null; since: number}>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  isAlive({name, renewedAt, silentSeconds}: KnownServer): boolean {
    if (silentSeconds === null || silentSeconds > SURELY_GONE) return false
    const seen = this.#seen.get(name)
    if (seen?.renewedAt !== renewedAt) {
      this.#seen.set(name, {renewedAt, since: this.#now()})
      return true
    }
    return this.#now() - seen.since < GONE_AFTER
  }
}

/** The servers that are alive and do not use what was shared yet. One that is off follows when it starts. */
export async function serversNotFollowing(
  client: Leases,
  clock: Clock,
  generation: number,
  liveness: Liveness,
): Promise<string[]> {
  const alive = (await readServers(client, clock)).filter((server) => liveness.isAlive(server))
  if (alive.length === 0) return ['no server has a Lease']
  return alive
    .filter((server) => server.generation < generation)
    .map(({rotationProblem, ...server}) =>
      rotationProblem === null ? labelOf(server) : `${labelOf(server)} (${rotationProblem})`,
    )
}

/** All servers, and how far each has followed. */
export async function followingServers(
  client: Leases,
  clock: Clock,
  generation: number,
): Promise<FollowingServer[]> {
  return (await readServers(client, clock)).map(
    ({name, hostname, generation: own, alive, rotationProblem}) => ({
      name,
      hostname,
      generation: own,
      state: alive ? (own < generation ? 'behind' : 'up to date') : 'silent',
      ...(alive && rotationProblem !== null && {problem: rotationProblem}),
    }),
  )
}

/** Refuses to rotate if another server is alive that cannot follow: it would not trust the new CAs. */
export async function requireFollowers(client: Leases, plane: Plane, clock: Clock): Promise<void> {
  const own = leaseNameOf(identityOf(plane))
  const key = await readPlaneKey(plane)
  const id = key && planeKeyId(key)
  const others = (await readServers(client, clock)).filter(
    ({alive, name, digests}) =>
      alive && name !== own && (id === undefined || digests[PLANE_KEY] !== id),
  )
  if (others.length === 0) return
  const shown = others.slice(0, 5).map(labelOf)
  throw new TrustError(
    'CONFLICT',
    `${others.length} of the servers cannot follow a rotation: they do not have the key of this machine in pki/plane.key: ${shown.join(', ')}`,
    {
      hints: [
        elsewhere(
          'run "trustadm init phase upload-certs" on the first machine, then "join --control-plane" again on the others with the key that it prints',
        ),
        'servers of an earlier version must be upgraded first; one that died counts for 40 s',
      ],
    },
  )
}
