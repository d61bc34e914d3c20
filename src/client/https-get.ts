import type {Pool} from 'undici'
import {constantly} from '../trust/live.ts'
import {USER_AGENT} from './api-call.ts'
import type {Environment} from './proxy-rules.ts'
import type {TransportResponse} from './transport.ts'
import type {SharedConnections} from './shared-connections.ts'
import {UndiciTransport} from './undici-transport.ts'

export interface HttpsGetOptions {
  /** The CAs to verify the server with, as PEM; by default those of Node.js. */
  ca?: string | undefined
  /** Accepts any server: only for content that is verified by other means. */
  insecure?: boolean | undefined
  tlsServerName?: string | undefined
  accept?: string | undefined
  /** For the whole request, from the connection to the last byte. */
  timeout: number
  maxBytes: number
  signal?: AbortSignal | undefined
  environment?: Environment | undefined
  shared?: SharedConnections | undefined
  /** A connection of the caller, who closes it. */
  pool?: Pool | undefined
}

/** One GET, on a new connection unless some are shared. Sends no credentials and follows no redirect. */
export async function httpsGet(url: URL, options: HttpsGetOptions): Promise<TransportResponse> {
  const {ca, insecure, tlsServerName, accept = '*/*', timeout, maxBytes, signal} = options
  const transport = new UndiciTransport(
    constantly({server: url.origin, ca, insecure, tlsServerName}),
    {
      timeout,
      connectTimeout: timeout,
      maxBodyBytes: maxBytes,
      environment: options.environment,
      shared: options.shared,
      pool: options.pool,
    },
  )
  try {
    return await transport.request({
      method: 'GET',
      // The query unchanged: some are signed.
      path: url.pathname + url.search,
      headers: {accept, 'user-agent': USER_AGENT},
      signal,
    })
  } finally {
    await transport.close()
  }
}
