import {
  CLUSTER_INFO_NAME,
  CLUSTER_INFO_NAMESPACE,
  type ClusterInfo,
  clusterInfoInvalid,
  KUBECONFIG_KEY,
} from '../bootstrap/cluster-info.ts'
import {httpsGet} from '../client/https-get.ts'
import {hostOf} from '../client/proxy-rules.ts'
import {withoutTrailingSlashes} from '../client/server-access.ts'
import {type SharedConnections, UnprovenConnection} from '../client/shared-connections.ts'
import {headerOf, type TransportResponse} from '../client/transport.ts'
import type {Certificate} from '../pki/certificate.ts'
import {problemOfServer} from '../pki/server-identity.ts'
import {readPresented, verifyChain} from '../pki/verify.ts'
import {authoritiesOf} from './cluster-info.ts'
import {answerError, explain} from './explain.ts'
import type {DiscoveryContext} from './settings.ts'

/** How the server is verified: not at all, or with CAs. */
export interface Trust {
  insecure?: boolean | undefined
  ca?: string | undefined
  tlsServerName?: string | undefined
  /** The server's clock, if it is already known. */
  serverTime?: Date | undefined
}

/** cluster-info as one request returned it. */
export interface ClusterInfoRead {
  kubeconfig: string
  data: Readonly<Record<string, unknown>>
  serverTime: Date | undefined
  /** Of an unverified read. The reader closes it, or leaves it for what comes next. */
  connection?: ReadConnection | undefined
}

const PATH = `/api/v1/namespaces/${CLUSTER_INFO_NAMESPACE}/configmaps/${CLUSTER_INFO_NAME}`
/** With room for the signatures of ten thousand tokens. */
const LARGEST = 4 * 1024 * 1024

/** GETs the ConfigMap without credentials: it is public, and the server may not be trusted yet. */
export async function readClusterInfo(
  server: string,
  {serverTime, ...trust}: Trust,
  context: DiscoveryContext,
): Promise<ClusterInfoRead> {
  const {readTimeout: timeout, signal, environment, connections: shared} = context
  const url = new URL(withoutTrailingSlashes(server) + PATH)
  const options = {...trust, timeout, signal, environment}
  const unproven = trust.insecure ? new UnprovenConnection(server, options) : undefined
  try {
    const answer = await httpsGet(url, {
      ...options,
      shared,
      pool: unproven?.pool,
      accept: 'application/json',
      maxBytes: LARGEST,
    }).catch(async (error: unknown) => {
      throw await explain(error, url, {...options, serverTime, now: context.clock.now()})
    })
    const connection = unproven && new ReadConnection(unproven, server, shared)
    return {...readAnswer(answer, server), connection}
  } catch (error) {
    await unproven?.close()
    throw error
  }
}

function readAnswer(answer: TransportResponse, server: string): ClusterInfoRead {
  const value = parse(answer.body)
  const data =
    value.kind === 'ConfigMap' && isFields(value.data ?? {}) ? (value.data ?? {}) : undefined
  if (answer.status !== 200 || !data) throw answerError(answer.status, value, server)
  const fields = data as Record<string, unknown>
  const kubeconfig = fields[KUBECONFIG_KEY]
  if (typeof kubeconfig !== 'string') {
    throw clusterInfoInvalid('cluster-info', `it has no ${KUBECONFIG_KEY} key`)
  }
  return {kubeconfig, data: fields, serverTime: timeOf(headerOf(answer.headers, 'date'))}
}

function parse(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString())
    return isFields(value) ? value : {}
  } catch {
    return {}
  }
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function timeOf(header: string | undefined): Date | undefined {
  const time = new Date(header ?? '')
  return Number.isNaN(time.getTime()) ? undefined : time
}

interface ChainCheck {
  host: string
  authorities: readonly Certificate[]
  now: Date
}

/**
 * Whether TLS with these CAs would have accepted what a server presented. Stricter than OpenSSL in places: what it refuses may
 * still be accepted by a verified connection.
 */
export function isVouchedFor(
  presented: readonly Buffer[],
  {host, authorities, now}: ChainCheck,
): boolean {
  const [leaf, ...intermediates] = readPresented(presented)
  // An unreadable certificate is left out of the list: the first one must be the server's own.
  if (leaf === undefined || !presented[0]?.equals(leaf.der)) return false
  const verdict = verifyChain(leaf, {intermediates, roots: authorities, usage: 'server auth', now})
  if (!verdict.ok) return false
  return (
    problemOfServer(
      verdict.chain.map(({der}) => der),
      host,
    ) === undefined
  )
}

/** The connection of an unverified read, which may turn out to be one to the cluster. */
class ReadConnection {
  readonly #connection: UnprovenConnection
  readonly #server: string
  readonly #shared: SharedConnections | undefined
  #isAdopted = false

  constructor(
    connection: UnprovenConnection,
    server: string,
    shared: SharedConnections | undefined,
  ) {
    this.#connection = connection
    this.#server = server
    this.#shared = shared
  }

  /**
   * Leaves the connection to those who verify the server with the CAs of cluster-info, if it has presented a certificate of these
   * CAs: that saves a handshake. If not, they connect again, and TLS decides.
   */
  async offerTo(info: Pick<ClusterInfo, 'ca' | 'tlsServerName'>, now: Date): Promise<void> {
    const {ca, tlsServerName} = info
    const {presented} = this.#connection
    // The server was asked by its address: for another name it may present another certificate.
    if (!this.#shared || !presented || ca === undefined || tlsServerName !== undefined) return
    const host = hostOf(new URL(this.#server))
    if (!isVouchedFor(presented, {host, authorities: authoritiesOf(info), now})) return
    await this.#shared.adopt(this.#connection, {server: this.#server, ca})
    this.#isAdopted = true
  }

  /** Unless it was left to others. */
  async close(): Promise<void> {
    if (!this.#isAdopted) await this.#connection.close()
  }
}
