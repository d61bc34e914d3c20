import {isSameBundle} from '../pki/bundle.ts'
import type {TrustedClusterInfo} from './cluster-info.ts'
import {addressesOf, readNewer} from './confirm.ts'
import {firstGood} from './side-by-side.ts'
import {discoveryContext, type DiscoverySettings} from './settings.ts'

export interface Refreshed {
  /** To be used from now on: the newer one, or the kept one where none could be had. */
  info: TrustedClusterInfo
  /** Whether there is something new to keep. */
  changed: boolean
  /** Why it could not be refreshed. */
  problem?: unknown
}

/**
 * Reads cluster-info again from the cluster that is known, over TLS that the kept CAs vouch for. All addresses are asked
 * once, side by side. A copy that cannot be refreshed is still used: the next time may be better.
 */
export async function refreshClusterInfo(
  kept: TrustedClusterInfo,
  settings: DiscoverySettings = {},
): Promise<Refreshed> {
  const context = discoveryContext(settings)
  try {
    const {value: info} = await firstGood(
      addressesOf(kept),
      (server, signal) => readNewer(kept, server, {...context, signal}),
      context.signal,
    )
    return {info, changed: isChanged(kept, info)}
  } catch (problem) {
    settings.signal?.throwIfAborted()
    return {info: kept, changed: false, problem}
  }
}

function isChanged(before: TrustedClusterInfo, after: TrustedClusterInfo): boolean {
  if (before.server !== after.server || before.tlsServerName !== after.tlsServerName) return true
  if (before.ca === undefined || after.ca === undefined) return before.ca !== after.ca
  return !isSameBundle(before.ca, after.ca)
}
