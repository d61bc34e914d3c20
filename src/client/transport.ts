/** How the API client reaches a server: over a socket, or as a function in the same process. */
export interface Transport {
  /** Reads the whole response, up to a limit. */
  request(request: TransportRequest): Promise<TransportResponse>
  /** Returns the response as it arrives: a watch has no end. */
  stream(request: TransportRequest): Promise<TransportStream>
  /** The verified certificate of the server, as DER; undefined before the first response. */
  serverCertificate(): Uint8Array | undefined
  close(): Promise<void>
}

export interface TransportRequest {
  method: string
  /** Already percent-encoded, starting with `/`, without the query. */
  path: string
  query?: URLSearchParams | undefined
  headers?: Record<string, string | string[]> | undefined
  body?: Uint8Array | undefined
  signal?: AbortSignal | undefined
}

export type ResponseHeaders = Record<string, string | string[] | undefined>

export interface TransportResponse {
  status: number
  /** Names in lower case. */
  headers: ResponseHeaders
  body: Uint8Array
}

export interface TransportStream {
  status: number
  headers: ResponseHeaders
  body: AsyncIterable<Uint8Array>
  /** Releases the connection; not needed for a body that was read to its end. */
  close(): void
}

/** The path with its query, as in a request line. */
export function targetOf({path, query}: Pick<TransportRequest, 'path' | 'query'>): string {
  const text = query?.toString() ?? ''
  return text === '' ? path : `${path}?${text}`
}

/** The first value of a header. */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
