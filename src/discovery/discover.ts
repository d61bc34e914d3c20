import {inputInTime, withRetry} from '../client/patience.ts'
import {TrustError} from '../errors.ts'
import {clusterInfoIn, readBootstrapKubeconfig} from './bootstrap-kubeconfig.ts'
import type {TrustedClusterInfo} from './cluster-info.ts'
import {
  discoverByDocument,
  fetchDiscoveryFile,
  readDiscoveryFile,
  readDiscoveryInput,
} from './document.ts'
import {planDiscovery, type DiscoveryOptions} from './plan.ts'
import {discoveryContext, type DiscoverySettings} from './settings.ts'
import {discoverByToken} from './token.ts'

const STANDARD_INPUT = 'standard input'

/**
 * Finds out which cluster to trust, by one of the three methods of `kubeadm join`, or by a kubeconfig with credentials. Writes nothing. Each failure has its own code,
 * and only failures that may be temporary are retried.
 */
export async function discover(
  options: DiscoveryOptions,
  settings: DiscoverySettings = {},
): Promise<TrustedClusterInfo> {
  const plan = planDiscovery(options)
  const context = discoveryContext(settings)
  switch (plan.method) {
    case 'token':
      return await discoverByToken(plan, context)
    case 'kubeconfig': {
      const text = clusterInfoIn(await readBootstrapKubeconfig(plan.path))
      return await discoverByDocument(text, 'kubeconfig', plan.path, context)
    }
    case 'file': {
      const text = await readDiscoveryFile(plan.path)
      return await discoverByDocument(text, 'file', plan.path, context)
    }
    case 'stdin': {
      const input = requireInput(settings)
      const text = await inputInTime(() => readDiscoveryInput(input, STANDARD_INPUT), context)
      return await discoverByDocument(text, 'stdin', STANDARD_INPUT, context)
    }
    case 'https': {
      const {origin} = plan.url
      const fetch = (signal: AbortSignal) => fetchDiscoveryFile(plan, {...context, signal})
      const text = await withRetry(origin, fetch, context)
      const name = `the discovery file of ${origin}`
      return await discoverByDocument(text, 'https', name, context)
    }
  }
}

function requireInput({input}: DiscoverySettings): AsyncIterable<Uint8Array | string> {
  if (input) return input
  throw new TrustError('USAGE', 'the discovery file cannot be read from stdin: there is no input')
}
