import {parseClusterInfo} from '../bootstrap/parse-cluster-info.ts'
import {systemRoots} from '../client/system-roots.ts'
import {TrustError} from '../errors.ts'
import {authoritiesOf, pinsOf, type TrustedClusterInfo} from './cluster-info.ts'
import {readClusterInfo} from './read-cluster-info.ts'
import type {DiscoveryContext} from './settings.ts'
import {requireCurrentAuthorities} from './validity.ts'

/** Reads cluster-info from one server that must prove itself by what is trusted already; what it says counts from then on. */
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

/** All addresses under which the cluster is known, its own choice first. */
export function addressesOf({server, endpoints}: TrustedClusterInfo): string[] {
  return [...new Set([server, ...endpoints])]
}

/** From one CA to all the CAs of the world: no cluster-info may widen trust so. */
function caDropped(server: string): TrustError {
  return new TrustError(
    'CLUSTER_INFO_INVALID',
    `cluster-info of ${server} names no CA any more, and the one known before is not given up`,
    {hints: ['put the CA back into cluster-info on the control plane']},
  )
}
