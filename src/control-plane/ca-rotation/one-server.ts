import {TrustError} from '../../errors.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {Clock} from '../../runtime.ts'
import {readServers} from '../server-identity.ts'

/** Refuses to rotate the CAs of several servers: only the files of this machine would change, and the others would not trust them. */
export async function requireOneServer(
  client: Pick<ApiClient, 'leases'>,
  clock: Clock,
): Promise<void> {
  const servers = (await readServers(client, clock)).filter(({alive}) => alive)
  if (servers.length <= 1) return
  const shown = servers.slice(0, 5).map(({name, hostname}) => `${name} on ${hostname ?? 'unknown'}`)
  throw new TrustError(
    'CONFLICT',
    `${servers.length} servers share this control plane, and a rotation changes the CAs of one only: ${shown.join(', ')}`,
    {
      hints: [
        'stop the others, rotate, copy the CAs to their machines, renew their certificates, and start them again',
        'see the servers with "trustadm status"; one that died counts for 40 s',
      ],
    },
  )
}
