import {USER_AGENT} from './api-call.ts'
import type {Environment} from './proxy-rules.ts'
import type {TransportResponse} from './transport.ts'
import {UndiciTransport} from './undici-transport.ts'

export interface HttpsGetOptions {
  /** The CAs that may vouch for the server, as PEM; without them Node's own count. */
  ca?: string | undefined
  /** Whoever answers is listened to: only for what is verified by other means. */
  insecure?: boolean | undefined
  tlsServerName?: string | undefined
  accept?: string | undefined
  /** For the whole exchange, from the connection to the last byte. */
  timeout: number
  maxBytes: number
  signal?: AbortSignal | undefined
  environment?: Environment | undefined
}

/** One GET on a connection of its own. It has no credentials to send and follows no redirect. */
export async function httpsGet(url: URL, options: HttpsGetOptions): Promise<TransportResponse> {
  const {ca, insecure, tlsServerName, accept = '*/*', timeout, maxBytes, signal} = options
  const transport = new UndiciTransport(
    {server: url.origin, ca, insecure, tlsServerName},
    {
      timeout,
      connectTimeout: timeout,
      maxBodyBytes: maxBytes,
      environment: options.environment,
    },
  )
  try {
    return await transport.request({
      method: 'GET',
      // The query as it was written: some are signed.
      path: url.pathname + url.search,
      headers: {accept, 'user-agent': USER_AGENT},
      signal,
    })
  } finally {
    await transport.close()
  }
}
