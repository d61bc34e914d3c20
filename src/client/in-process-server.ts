import type {ApiObject, HeldEvent, UserInfo} from '../api/meta.ts'

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
