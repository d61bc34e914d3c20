import {isDeepStrictEqual} from 'node:util'
import {tokenIdOfJwsKey} from '../bootstrap/cluster-info.ts'
import {parseClusterInfo} from '../bootstrap/parse-cluster-info.ts'
import {systemRoots} from '../client/system-roots.ts'
import {TrustError} from '../errors.ts'
import {isSameBundle} from '../pki/bundle.ts'
import {authoritiesOf, pinsOf, type TrustedClusterInfo} from './cluster-info.ts'
import {readClusterInfo} from './read-cluster-info.ts'
import {discoveryContext, type DiscoveryContext, type DiscoverySettings} from './settings.ts'
import {firstGood} from './attempts.ts'
import {requireCurrentAuthorities} from './validity.ts'

interface Refreshed {
  /** To be used from now on: the newer one, or the stored one if there is none. */
  info: TrustedClusterInfo
  /** Whether there is something new to store. */
  changed: boolean
  /** Why it could not be refreshed. */
  problem?: Error
}

/**
 * Reads cluster-info again from the known cluster, over TLS verified with the stored CAs; a new one is used only if the server
 * proves itself with its CAs too. Tries all addresses once, in parallel. If that fails, the stored copy is still used.
 */
export async function refreshClusterInfo(
  kept: TrustedClusterInfo,
  settings: DiscoverySettings = {},
): Promise<Refreshed> {
  const context = discoveryContext(settings)
  try {
    const {value: info} = await firstGood(
      addressesOf(kept),
      async (server, signal) => {
        const newer = await readNewer(kept, server, {...context, signal})
        // A bundle that the server itself does not satisfy would cut this machine off.
        if (isChanged(kept, newer)) await readNewer(newer, server, {...context, signal})
        return newer
      },
      context.signal,
    )
    return {info, changed: isChanged(kept, info)}
  } catch (problem) {
    settings.signal?.throwIfAborted()
    return {info: kept, changed: false, problem: problem as Error}
  }
}

function isChanged(before: TrustedClusterInfo, after: TrustedClusterInfo): boolean {
  if (before.server !== after.server || before.tlsServerName !== after.tlsServerName) return true
  if (!isDeepStrictEqual(before.issuers, after.issuers)) return true
  if (before.ca === undefined || after.ca === undefined) return before.ca !== after.ca
  return !isSameBundle(before.ca, after.ca)
}

/** Reads cluster-info from a server that proves itself with the trust so far; its content is used from then on. */
export async function readNewer(
  known: TrustedClusterInfo,
  server: string,
  context: DiscoveryContext,
): Promise<TrustedClusterInfo> {
  const ca = known.ca ?? (await systemRoots(context.environment))
  const trust = {ca, tlsServerName: known.tlsServerName}
  const {kubeconfig, data, serverTime} = await readClusterInfo(server, trust, context)
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
    signers: Object.keys(data).flatMap((key) => tokenIdOfJwsKey(key) ?? []),
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
