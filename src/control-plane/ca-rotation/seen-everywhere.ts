import type {ApiClient} from '../../client/api-client.ts'
import {hasCode, messageOf} from '../../errors.ts'
import type {SeenClientList, SeenList} from '../../server/authn/seen-clients.ts'
import type {Clock} from '../../runtime.ts'
import {connectToServer} from '../admin.ts'
import {etcdOf} from '../config/etcd.ts'
import type {Plane} from '../config/plane.ts'
import {identityOf} from '../plane-storage.ts'
import {leaseNameOf, readServers} from '../server-identity.ts'
import {labelOf} from './following.ts'

const SEEN_CLIENTS = '/trustadm/seen-clients'

/** Who was seen by any server of the control plane. */
export interface SeenEverywhere {
  /** Undefined if the server of this machine does not remember its clients. */
  seen: SeenClientList | undefined
  /** The servers that are alive and could not be asked, each with the reason. */
  unasked: string[]
}

/** Undefined for a server that does not remember its clients: only trustadm's own does, and only since a version. */
async function readSeen(client: Pick<ApiClient, 'raw'>): Promise<SeenClientList | undefined> {
  try {
    return JSON.parse(await client.raw(SEEN_CLIENTS)) as SeenClientList
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

const joined = (one: SeenList, other: SeenList): SeenList => ({
  dropped: one.dropped + other.dropped,
  forgotten: [...one.forgotten, ...other.forgotten],
  clients: [...one.clients, ...other.clients],
})

/** The lists of several servers as one. It is as young as the youngest: what that server has seen before is not known. */
const mergeSeen = (one: SeenClientList, other: SeenClientList): SeenClientList => ({
  ...joined(one, other),
  since: one.since > other.since ? one.since : other.since,
  tokens: joined(one.tokens, other.tokens),
})

/** Connects to one server of the control plane, by its own address. */
export type Reach = (plane: Plane, address: string) => Promise<ApiClient>

/** Each server remembers only who has talked to it. */
export async function readSeenEverywhere(
  plane: Plane,
  client: Pick<ApiClient, 'leases' | 'raw'>,
  {clock, reach = connectToServer}: {clock: Clock; reach?: Reach | undefined},
): Promise<SeenEverywhere> {
  let seen = await readSeen(client)
  const unasked: string[] = []
  if (!etcdOf(plane.settings)) return {seen, unasked}
  const own = leaseNameOf(identityOf(plane))
  const servers = await readServers(client, clock)
  for (const server of servers.filter(({alive, name}) => alive && name !== own)) {
    try {
      const list = server.address ? await ask(plane, server.address, reach) : undefined
      if (list) seen = seen && mergeSeen(seen, list)
      else unasked.push(`${labelOf(server)}: it is of an earlier version`)
    } catch (error) {
      unasked.push(`${labelOf(server)}: ${messageOf(error)}`)
    }
  }
  return {seen, unasked}
}

async function ask(
  plane: Plane,
  address: string,
  reach: Reach,
): Promise<SeenClientList | undefined> {
  const client = await reach(plane, address)
  try {
    return await readSeen(client)
  } finally {
    await client.close()
  }
}
