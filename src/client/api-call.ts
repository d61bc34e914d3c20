import type {ApiObject, UserInfo} from '../api/meta.ts'
import {VERSION} from '../version.ts'
import {printable} from './printable.ts'
import {fromForeignAnswer, fromStatus, fromText, isStatus} from './status-errors.ts'
import {
  headerOf,
  retryAfter,
  type ObjectRequest,
  type ObjectTransport,
  type ResponseHeaders,
  type Transport,
  type TransportStream,
} from './transport.ts'

export interface ApiCall {
  method: string
  path: string
  query?: URLSearchParams | undefined
  body?: unknown
  contentType?: string | undefined
  signal?: AbortSignal | undefined
  /** What the caller gets is its own, also from a server in the same process. */
  ownCopy?: boolean
}

export interface CallerOptions {
  /** How the caller names itself; managedFields take its name from here. */
  userAgent?: string | undefined
  impersonate?: Partial<UserInfo> | undefined
  /** Called with every `Warning` header of the server. */
  onWarning?: ((text: string) => void) | undefined
  /** Called with the server's time in each answer, and how many milliseconds before its arrival the request was begun. */
  onServerTime?: ((time: Date, elapsed: number) => void) | undefined
  /** What may be wrong with the credentials, asked when the server answers 401. */
  credentialHints?: (() => string[]) | undefined
}

export const USER_AGENT = `trustadm/${VERSION} (${process.platform}/${process.arch})`

/** Speaks the API over a transport: JSON in and out, `Status` failures as TrustErrors. */
export class ApiCaller {
  readonly #transport: Transport
  readonly #options: CallerOptions
  /** Those of every call that passes objects. */
  #jsonHeaders: Record<string, string | string[]> | undefined

  constructor(transport: Transport, options: CallerOptions = {}) {
    this.#transport = transport
    this.#options = options
  }

  async json(call: ApiCall): Promise<unknown> {
    const {objects} = this.#transport
    if (objects && call.contentType === undefined && call.ownCopy !== true)
      return await this.#value(objects, call)
    const begun = performance.now()
    const {status, headers, body} = await this.#transport.request(this.#request(call))
    this.#warn(headers)
    this.#tellTime(headers, begun)
    return this.#checked(status, headers, parse(body))
  }

  async #value(objects: ObjectTransport, call: ApiCall): Promise<unknown> {
    const {status, headers, value} = await objects.call(this.#objectRequest(call))
    this.#warn(headers)
    return this.#checked(status, headers, value)
  }

  #checked(status: number, headers: ResponseHeaders, value: unknown): unknown {
    if (status < 200 || status > 299) throw this.#failure(status, headers, value)
    if (typeof value !== 'object' || value === null) throw fromForeignAnswer(status)
    return value
  }

  async text(call: ApiCall): Promise<string> {
    const {status, headers, body} = await this.#transport.request(this.#request(call, '*/*'))
    const text = Buffer.from(body).toString()
    if (status >= 200 && status <= 299) return text
    const value = parse(body)
    throw isStatus(value)
      ? this.#failure(status, headers, value)
      : fromText(status, call.path, text)
  }

  async stream(call: ApiCall): Promise<TransportStream> {
    const stream = await this.#transport.stream(this.#request(call))
    this.#warn(stream.headers)
    if (stream.status === 200) return stream
    throw this.#failure(stream.status, stream.headers, parse(await readSome(stream)))
  }

  async close(): Promise<void> {
    await this.#transport.close()
  }

  #objectRequest({method, path, query, body, signal}: ApiCall): ObjectRequest {
    const object = body as ApiObject | undefined
    this.#jsonHeaders ??= this.#headers()
    return {method, path, query, signal, object, headers: this.#jsonHeaders}
  }

  #headers(accept = 'application/json'): Record<string, string | string[]> {
    return {
      accept,
      'user-agent': this.#options.userAgent ?? USER_AGENT,
      ...impersonation(this.#options.impersonate),
    }
  }

  #request(call: ApiCall, accept = 'application/json') {
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body))
    return {
      ...call,
      body,
      headers: {
        ...this.#headers(accept),
        ...(body && {'content-type': call.contentType ?? 'application/json'}),
      },
    }
  }

  #failure(status: number, headers: ResponseHeaders, value: unknown): Error {
    const error = isStatus(value) ? fromStatus(value, status) : fromForeignAnswer(status)
    const asked = retryAfter(headers)
    if (asked !== undefined) error.facts.retryAfter = asked
    if (status === 401) error.hints.unshift(...(this.#options.credentialHints?.() ?? []))
    return error
  }

  #tellTime(headers: ResponseHeaders, begun: number): void {
    const time = new Date(headerOf(headers, 'date') ?? NaN)
    if (Number.isNaN(time.getTime())) return
    this.#options.onServerTime?.(time, performance.now() - begun)
  }

  #warn(headers: ResponseHeaders): void {
    const {onWarning} = this.#options
    const values = headers.warning
    if (!onWarning || values === undefined) return
    for (const value of Array.isArray(values) ? values : [values]) {
      for (const [, text = ''] of value.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)) {
        onWarning(printable(text.replace(/\\(.)/g, '$1')))
      }
    }
  }
}

function impersonation(user: CallerOptions['impersonate']): Record<string, string | string[]> {
  if (!user?.username) return {}
  const extra = Object.entries(user.extra ?? {}).map(
    ([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, values] as const,
  )
  return {
    'impersonate-user': user.username,
    ...(user.uid && {'impersonate-uid': user.uid}),
    ...(user.groups?.length && {'impersonate-group': user.groups}),
    ...Object.fromEntries(extra),
  }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString()) as unknown
  } catch {
    return undefined
  }
}

/** Enough of a failed stream's body for its `Status`. */
async function readSome(stream: TransportStream, limit = 1024 * 1024): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream.body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > limit) break
  }
  stream.close()
  return Buffer.concat(chunks)
}
