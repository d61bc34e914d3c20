import {clusterInfoInvalid} from '../bootstrap/cluster-info-errors.ts'
import {parseClusterInfo} from '../bootstrap/parse-cluster-info.ts'
import {EXIT, TrustError} from '../errors.ts'
import type {Pin} from '../pki/pins.ts'
import {authoritiesOf, pinsOf, type TrustedClusterInfo} from './cluster-info.ts'
import {withRetry} from './retry.ts'
import {requirePinned} from './pinning.ts'
import type {TokenPlan} from './plan.ts'
import {readClusterInfo, type ClusterInfoRead, type Trust} from './read-cluster-info.ts'
import {firstGood, type Failure} from './side-by-side.ts'
import {requireSigned} from './signature.ts'
import type {DiscoveryContext} from './settings.ts'
import {requireCurrentAuthorities} from './validity.ts'

export type ReadClusterInfo = (trust: Trust) => Promise<ClusterInfoRead>

/** What one server has proven about its cluster. */
export type ProvenInfo = Omit<TrustedClusterInfo, 'endpoints' | 'source'>

/** Tries all endpoints in parallel, as `kubeadm join` does; the first that proves to be the cluster wins. */
export async function discoverByToken(
  {token, endpoints, pins}: TokenPlan,
  context: DiscoveryContext,
): Promise<TrustedClusterInfo> {
  const {server, value, failures} = await firstGood(
    endpoints,
    async (endpoint, signal) => {
      const limited = {...context, signal}
      const read: ReadClusterInfo = (trust) => readClusterInfo(endpoint, trust, limited)
      const prove = () => proveByToken(read, {token, pins}, limited.clock.now())
      return await withRetry(endpoint, prove, limited)
    },
    context.signal,
  )
  const addresses = new Set([server, ...endpoints])
  addresses.delete(value.server)
  return {
    ...value,
    endpoints: [...addresses],
    source: 'token',
    warnings: [...value.warnings, ...failures.flatMap(distrustWarning)],
  }
}

/**
 * The order of the checks matters: an unverified read; the token's signature over it; the pins of all CAs in it; then the same
 * text again from a server that is verified with those CAs. Without a pin, the signature is the only proof.
 */
export async function proveByToken(
  read: ReadClusterInfo,
  {token, pins}: Pick<TokenPlan, 'token' | 'pins'>,
  now: Date,
): Promise<ProvenInfo> {
  const claimed = await read({insecure: true})
  try {
    await requireSigned(claimed, token)
    const info = parseClusterInfo(claimed.kubeconfig)
    const authorities = authoritiesOf(info)
    const {kubeconfig, serverTime} = claimed
    const found = pinsOf(authorities)
    if (pins.size === 0) {
      requireCurrentAuthorities(authorities, {now, serverTime})
      return {...info, kubeconfig, pins: found, warnings: [unpinnedWarning(found)]}
    }

    if (authorities.length === 0) {
      throw clusterInfoInvalid('cluster-info', 'a CA is pinned, but it contains none')
    }
    requirePinned(authorities, pins, now)
    requireCurrentAuthorities(authorities, {now, serverTime})
    await claimed.connection?.offerTo(info, now)
    const confirmed = await read({ca: info.ca, tlsServerName: info.tlsServerName, serverTime})
    if (confirmed.kubeconfig !== kubeconfig) throw changed()
    return {...info, kubeconfig, pins: found, warnings: []}
  } finally {
    await claimed.connection?.close()
  }
}

function changed(): TrustError {
  return new TrustError(
    'CLUSTER_INFO_CHANGED',
    'cluster-info was different when it was read a second time, over a verified connection',
    {
      hints: [
        'if the cluster was just being changed, run the command again',
        'if it happens again, stop: someone is intercepting the connection to the cluster',
      ],
    },
  )
}

function unpinnedWarning(found: readonly Pin[]): string {
  const advice = found.map((pin) => `--discovery-token-ca-cert-hash ${pin}`).join(' ')
  const next = advice === '' ? '' : `; to pin it next time, add ${advice}`
  return `the CA of the cluster was not pinned, so anyone who knows the token could have pretended to be the cluster${next}`
}

/** Warns about a server that pretends to be the cluster, not about one that is unreachable. */
function distrustWarning({server, error}: Failure): string[] {
  if (!(error instanceof TrustError) || error.oclif.exit !== EXIT.notTrusted) return []
  return [`${server} was skipped: ${error.message}`]
}
