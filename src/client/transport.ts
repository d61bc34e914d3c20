import type {ApiObject, HeldEvent, UserInfo} from '../api/meta.ts'

/** How the API client reaches a server: over a socket, or as a function in the same process. */
export interface Transport {
  /** Reads the whole response, up to a limit. */
  request(request: TransportRequest): Promise<TransportResponse>
  /** Returns the response as it arrives: a watch has no end. */
  stream(request: TransportRequest): Promise<TransportStream>
  /** The verified certificate of the server, as DER; undefined before the first response. */
  serverCertificate(): Uint8Array | undefined
  close(): Promise<void>
  /** Of a server in the same process: objects go there and back as they are. */
  readonly objects?: ObjectTransport
}

/** A call whose body, if there is one, is an object. */
export interface ObjectRequest extends Omit<TransportRequest, 'body'> {
  object?: ApiObject | undefined
}

export interface ObjectTransport {
  /** The value of the answer; its text if the server gives no value. */
  call(request: ObjectRequest): Promise<ObjectResponse>
}

interface ObjectResponse {
  status: number
  headers: ResponseHeaders
  value: unknown
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
  /** In place of the body, the events of a watch of a server in the same process. */
  events?: AsyncIterable<readonly HeldEvent[]>
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

/** How long the server asks to wait, in milliseconds; undefined if it does not say. */
export function retryAfter(headers: ResponseHeaders): number | undefined {
  const header = headerOf(headers, 'retry-after')
  return header !== undefined && /^\d{1,9}$/.test(header) ? Number(header) * 1000 : undefined
}

/** The server as a function. The same shape as the server's own request, said here because neither layer knows the other. */
export type InProcessHandler = (request: InProcessRequest) => Promise<InProcessResponse>

export interface InProcessRequest {
  method: string
  path: string
  query: URLSearchParams
  headers: Record<string, string | undefined>
  rawHeaders: readonly string[]
  body: Uint8Array
  remoteAddress: string
  signal: AbortSignal
  caller: UserInfo
  takesObjects?: boolean
  object?: ApiObject | undefined
}

export interface InProcessResponse {
  status: number
  headers: Record<string, string | string[]>
  body: string | Uint8Array | AsyncIterable<string | Uint8Array>
  value?: object | undefined
  events?: AsyncIterable<readonly HeldEvent[]> | undefined
}
