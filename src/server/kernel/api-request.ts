import type {ApiObject, UserInfo, WatchEventType} from '../../api/meta.ts'

/** A request for the server's function: from a socket, or from a client in the same process. */
export interface ApiRequest {
  method: string
  /** The path as sent, not decoded, without the query. */
  path: string
  query: URLSearchParams
  /** Names in lower case; a repeated header's values joined by `, `. */
  headers: Record<string, string | undefined>
  /** Every header in order, name and value by turns: impersonation needs repeated ones apart. */
  rawHeaders: readonly string[]
  /** Read only once the caller may send it: a refused caller's body takes no memory. */
  body: Uint8Array | ((memory?: BodyMemory) => Promise<Uint8Array>)
  /** The caller's certificate chain as DER, leaf first, not checked yet. */
  peer?: PeerCertificates
  remoteAddress: string
  /** Aborted when the caller has gone away or the server shuts down. */
  signal: AbortSignal
  /** Set only by the in-process transport: a caller that is authenticated by construction. */
  caller?: UserInfo
  /** The answer may be objects instead of text: for callers in the same process, who do not change them. */
  takesObjects?: boolean
  /** In place of the body. */
  object?: ApiObject
}

/** An object in the server's memory, which callers in the same process share. */
export interface HeldObject {
  /** `namespace/name`, or `name`. */
  readonly key: string
  readonly uid: string | undefined
  readonly resourceVersion: string
  /** Not to be changed: others have the same. */
  readonly object: ApiObject
}

/** An event of a watch for a caller in the same process. */
export type HeldEvent =
  | {type: Exclude<WatchEventType, 'BOOKMARK' | 'ERROR'>; held: HeldObject}
  | {type: 'BOOKMARK' | 'ERROR'; object: object}

/** What a body may take while it comes in and is worked on. */
export interface BodyMemory {
  /** Called before so many more bytes are buffered; throws if there is no memory for them. */
  take(bytes: number): void
  /** Aborted, with the error to return, when the memory is taken back. */
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
  /** In place of the body, for a caller who takes objects. */
  value?: object
  /** In place of the body of a watch, for a caller who takes objects. */
  events?: AsyncIterable<readonly HeldEvent[]>
  /** The body comes in pieces but has an end of its own, unlike that of a watch: it is sent whole, also while the server stops. */
  finite?: boolean
  /** Of a long answer, which takes memory until it is read. */
  reading?: AnswerReading
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
