import {isDeepStrictEqual} from 'node:util'
import {isSameBundle} from '../pki/bundle.ts'
import type {TrustedClusterInfo} from './cluster-info.ts'
import {addressesOf, readNewer} from './confirm.ts'
import {firstGood} from './side-by-side.ts'
import {discoveryContext, type DiscoverySettings} from './settings.ts'

export interface Refreshed {
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
