import type {ApiObject, HeldEvent, UserInfo} from '../../api/meta.ts'

/** A request for the server's function: from a socket, or from a client in the same process. */
export interface ApiRequest {
  method: string
  /** The path as sent, not decoded, without the query. */
  path: string
  query: URLSearchParams
  /** Names in lower case; a repeated header's values joined by `, `. */
  headers: Record<string, string | undefined>
  /** Every header in order, names and values alternating: impersonation needs repeated headers separately. */
  rawHeaders: readonly string[]
  /** Called only once the caller is allowed: a refused caller's body takes no memory. */
  body: Uint8Array | ((memory?: BodyMemory) => Promise<Uint8Array>)
  /** The caller's certificate chain as DER, leaf first, not checked yet. */
  peer?: PeerCertificates | undefined
  remoteAddress: string
  /** Aborted when the caller leaves or the server shuts down. */
  signal: AbortSignal
  /** What the request takes of the server's memory, if it came from a socket. */
  held?: HeldRequest
  /** Called with whoever has logged in; undefined if the credential was refused. Absent in the same process. */
  loggedIn?: (user: UserInfo | undefined) => void
  /** Set only by the in-process transport: a caller that is authenticated by construction. */
  caller?: UserInfo
  /** The response may contain objects instead of text. For callers in the same process; they must not change them. */
  takesObjects?: boolean
  /** Replaces the body. */
  object?: ApiObject | undefined
}

/** The memory of a request from its first header to the end of its stream. */
export interface HeldRequest {
  readonly bytes: number
  /** From now on it counts for this user, who is allowed what the request asks for. Throws TooManyRequests. */
  belongsTo(user: UserInfo): void
  /** From now on something else counts it. */
  release(): void
}

/** The memory of a body while it is received and processed. */
export interface BodyMemory {
  /** A larger body is refused. */
  maxBytes: number
  /** Called before this many more bytes are buffered; throws if there is no memory for them. */
  take(bytes: number): void
  /** Aborted, with the error to return, when the memory is reclaimed. */
  signal: AbortSignal
}

export interface PeerCertificates {
  /** SHA-256 of the whole chain, lower-case hex. */
  fingerprint: string
  /** The leaf first. */
  chain: Uint8Array[]
}

export type ResponseBody = string | Uint8Array | AsyncIterable<string | Uint8Array>

export interface ApiResponse {
  status: number
  headers: Record<string, string | string[]>
  body: ResponseBody
  /** Replaces the body for a caller that takes objects. */
  value?: object | undefined
  /** Replaces the body of a watch for a caller that takes objects. */
  events?: AsyncIterable<readonly HeldEvent[]> | undefined
  /** The body is sent in pieces but, unlike a watch, it ends: it is completed even while the server stops. */
  finite?: boolean | undefined
  /** The memory of a long response, until it is read. */
  reading?: AnswerReading | undefined
}

interface AnswerReading {
  /** Aborted when others need the memory: the response is abandoned. */
  signal: AbortSignal
  /** To be called once the response is sent or abandoned. */
  over: () => void
}

export type Handler = (request: ApiRequest) => Promise<ApiResponse>

/** What Kubernetes returns for paths that it does not serve: text, not a Status. */
export const PAGE_NOT_FOUND: ApiResponse = {
  status: 404,
  headers: {'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff'},
  body: '404 page not found\n',
}
