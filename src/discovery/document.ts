import {dirname, resolve} from 'node:path'
import {clusterInfoInvalid} from '../bootstrap/cluster-info.ts'
import {parseClusterInfo, withInlineAuthority} from '../bootstrap/parse-cluster-info.ts'
import {httpsGet} from '../client/https-get.ts'
import {withRetry} from '../client/patience.ts'
import {systemRoots} from '../client/system-roots.ts'
import {hasCode} from '../errors.ts'
import {readFileSafely} from '../fs/files.ts'
import {explain, fileUnavailable, redirectRefused} from './explain.ts'
import {
  authoritiesOf,
  type DiscoverySource,
  pinsOf,
  readEndpoints,
  type TrustedClusterInfo,
} from './cluster-info.ts'
import {addressesOf, readNewer} from './refresh.ts'
import {firstGood} from './attempts.ts'
import type {DiscoveryContext} from './settings.ts'
import {requireCurrentAuthorities} from './validity.ts'

/** The most that is read of a document: a valid one has a few KiB. */
const LARGEST_DOCUMENT = 1024 * 1024

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
      return await withRetry(
        server,
        (signal) => newerIfShown(known, name, server, {...limited, signal}),
        limited,
      )
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
    return {...known, signers: 'hidden', warnings: [...known.warnings, warning]}
  }
}

const readText = async (path: string): Promise<string> =>
  (await readFileSafely(path, {followLinks: true, maxBytes: LARGEST_DOCUMENT})).toString()

/** A discovery file. It may be a link, as mounted ConfigMaps are, and name the file of its CA, from its own folder on. */
export async function readDiscoveryFile(path: string): Promise<string> {
  const readCa = (file: string) => readText(resolve(dirname(path), file))
  return await withInlineAuthority(await readText(path), path, readCa)
}

/** A discovery file from standard input, up to its end. */
export async function readDiscoveryInput(
  input: AsyncIterable<Uint8Array | string>,
  name: string,
): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > LARGEST_DOCUMENT) throw clusterInfoInvalid(name, 'it is larger than 1 MiB')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString()
}

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
      throw await explain(error, url, {...options, now: clock.now(), isWebServer: true})
    },
  )
  if (status === 200) return Buffer.from(body).toString()
  if (status >= 300 && status < 400) throw redirectRefused(status, url.origin)
  throw fileUnavailable(status, url.origin)
}
