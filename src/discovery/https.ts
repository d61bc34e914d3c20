import {httpsGet} from '../client/https-get.ts'
import {systemRoots} from '../client/system-roots.ts'
import {TrustError} from '../errors.ts'
import {redirectRefused} from './answer-errors.ts'
import {LARGEST_DOCUMENT} from './document.ts'
import {explain} from './explain.ts'
import type {DiscoveryContext} from './settings.ts'

/**
 * Fetches a discovery file from a host that is verified with the system's roots or the given CAs. kubeadm follows redirects, even
 * to plain HTTP, reads without a limit and accepts an error page as the file; here all of these are refused.
 */
export async function fetchDiscoveryFile(
  {url, ca}: {url: URL; ca?: string | undefined},
  {clock, readTimeout: timeout, signal, environment}: DiscoveryContext,
): Promise<string> {
  const roots = ca ?? (await systemRoots(environment))
  const options = {ca: roots, timeout, signal, environment}
  const {status, body} = await httpsGet(url, {...options, maxBytes: LARGEST_DOCUMENT}).catch(
    async (error: unknown) => {
      throw await explain(error, url, {...options, now: clock.now()})
    },
  )
  if (status === 200) return Buffer.from(body).toString()
  if (status >= 300 && status < 400) throw redirectRefused(status, url.origin)
  throw new TrustError(
    'DISCOVERY_FILE_UNAVAILABLE',
    `${url.origin} returned ${status} for the discovery file`,
    {facts: {status}, hints: ['check the URL: the file must be available without a login']},
  )
}
