import {parseClusterInfo} from '../bootstrap/parse-cluster-info.ts'
import {hasCode} from '../errors.ts'
import {
  authoritiesOf,
  pinsOf,
  type DiscoverySource,
  type TrustedClusterInfo,
} from './cluster-info.ts'
import {addressesOf, readNewer} from './confirm.ts'
import {readEndpoints} from './endpoints-extension.ts'
import {withRetry} from './retry.ts'
import {firstGood} from './side-by-side.ts'
import type {DiscoveryContext} from './settings.ts'
import {requireCurrentAuthorities} from './validity.ts'

/** Documents are read up to here: a good one has a few KiB. */
export const LARGEST_DOCUMENT = 1024 * 1024

/**
 * Trusts a document that came by a trusted way, and asks the cluster it names for what is newer. A cluster that shows
 * cluster-info to nobody, or has none, is no failure: then the document stands.
 */
export async function discoverByDocument(
  text: string,
  source: DiscoverySource,
  name: string,
  context: DiscoveryContext,
): Promise<TrustedClusterInfo> {
  const info = parseClusterInfo(text, name)
  const authorities = authoritiesOf(info)
  requireCurrentAuthorities(authorities, {now: context.clock.now()})
  const known: TrustedClusterInfo = {
    ...info,
    endpoints: readEndpoints(text),
    kubeconfig: text,
    pins: pinsOf(authorities),
    source,
    warnings: [],
  }
  const {value} = await firstGood(
    addressesOf(known),
    async (server, signal) => {
      const limited = {...context, signal}
      return await withRetry(server, () => newerIfShown(known, server, limited), limited)
    },
    context.signal,
  )
  return value
}

async function newerIfShown(
  known: TrustedClusterInfo,
  server: string,
  context: DiscoveryContext,
): Promise<TrustedClusterInfo> {
  try {
    return await readNewer(known, server, context)
  } catch (error) {
    if (!hasCode(error, 'CLUSTER_INFO_FORBIDDEN', 'CLUSTER_INFO_MISSING')) throw error
    const warning = `${error.message}: what the discovery file says is taken as it is`
    return {...known, warnings: [...known.warnings, warning]}
  }
}
