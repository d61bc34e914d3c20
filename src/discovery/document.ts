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

/** The most that is read of a document: a valid one has a few KiB. */
export const LARGEST_DOCUMENT = 1024 * 1024

/**
 * Trusts a document from a trusted source, and asks the cluster that it names for a newer version. If the cluster has no
 * cluster-info, or does not allow anonymous reads of it, the document is used as it is.
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
      return await withRetry(server, () => newerIfShown(known, name, server, limited), limited)
    },
    context.signal,
  )
  return value
}

async function newerIfShown(
  known: TrustedClusterInfo,
  name: string,
  server: string,
  context: DiscoveryContext,
): Promise<TrustedClusterInfo> {
  try {
    return await readNewer(known, server, context)
  } catch (error) {
    if (!hasCode(error, 'CLUSTER_INFO_FORBIDDEN', 'CLUSTER_INFO_MISSING')) throw error
    const warning = `${error.message}: what ${name} says is used as it is`
    return {...known, warnings: [...known.warnings, warning]}
  }
}
