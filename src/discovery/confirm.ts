import {parseClusterInfo} from '../bootstrap/parse-cluster-info.ts'
import {systemRoots} from '../client/system-roots.ts'
import {TrustError} from '../errors.ts'
import {authoritiesOf, pinsOf, type TrustedClusterInfo} from './cluster-info.ts'
import {readClusterInfo} from './read-cluster-info.ts'
import type {DiscoveryContext} from './settings.ts'
import {requireCurrentAuthorities} from './validity.ts'

/** Reads cluster-info from a server that proves itself with the trust so far; its content is used from then on. */
export async function readNewer(
  known: TrustedClusterInfo,
  server: string,
  context: DiscoveryContext,
): Promise<TrustedClusterInfo> {
  const ca = known.ca ?? (await systemRoots(context.environment))
  const trust = {ca, tlsServerName: known.tlsServerName}
  const {kubeconfig, serverTime} = await readClusterInfo(server, trust, context)
  const info = parseClusterInfo(kubeconfig)
  if (known.ca !== undefined && info.ca === undefined) throw caDropped(server)
  const authorities = authoritiesOf(info)
  requireCurrentAuthorities(authorities, {now: context.clock.now(), serverTime})
  return {
    ...info,
    kubeconfig,
    endpoints: addressesOf(known).filter((address) => address !== info.server),
    pins: pinsOf(authorities),
    source: known.source,
    warnings: known.warnings,
  }
}

/** All known addresses of the cluster, its preferred one first. */
export function addressesOf({server, endpoints}: TrustedClusterInfo): string[] {
  return [...new Set([server, ...endpoints])]
}

/** Without a CA, all CAs of the system would be trusted: cluster-info may not widen trust like that. */
function caDropped(server: string): TrustError {
  return new TrustError(
    'CLUSTER_INFO_INVALID',
    `cluster-info of ${server} no longer contains a CA, and is refused`,
    {hints: ['add the CA to cluster-info on the control plane again']},
  )
}
