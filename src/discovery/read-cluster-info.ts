import {
  CLUSTER_INFO_NAME,
  CLUSTER_INFO_NAMESPACE,
  KUBECONFIG_KEY,
} from '../bootstrap/cluster-info.ts'
import {clusterInfoInvalid} from '../bootstrap/cluster-info-errors.ts'
import {elsewhere} from '../errors.ts'
import {httpsGet} from '../client/https-get.ts'
import {headerOf, type TransportResponse} from '../client/transport.ts'
import {withoutTrailingSlashes} from '../client/server-access.ts'
import {UnprovenConnection} from '../client/unproven-connection.ts'
import {answerError} from './answer-errors.ts'
import {explain} from './explain.ts'
import {ReadConnection} from './read-connection.ts'
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
    throw clusterInfoInvalid(
      'cluster-info',
      `it has no ${KUBECONFIG_KEY} key`,
      elsewhere('run "trustadm init phase cluster-info" on the control plane'),
    )
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
