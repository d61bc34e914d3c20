import type {ListMeta, ObjectMeta, UserInfo, WatchEvent} from '../../src/api/meta.ts'
import type {ApiRequest, Handler} from '../../src/server/kernel/api-request.ts'
import {ADMIN} from '../helpers/test-server.ts'

type AnyMeta = ListMeta & ObjectMeta & {name: string; resourceVersion: string}

/** An object of any kind, with what tests look at most. */
interface AnyObject {
  kind: string
  apiVersion: string
  metadata: AnyMeta
  [field: string]: any
}

/** An answer's body of any kind: an object, a list, a Table, a Status. */
export interface AnyBody extends AnyObject {
  items: AnyObject[]
  columnDefinitions: {name: string}[] | null
  message: string
  reason: string
  code: number
}

export interface Answer {
  status: number
  headers: Record<string, string | string[]>
  /** Parsed where it is JSON. */
  body: AnyBody
  text: string
}

export interface CallOptions {
  body?: unknown
  type?: string
  accept?: string
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Calls the server as a function, as an administrator where nobody else is named. */
export class Api {
  readonly #handler: Handler
  readonly #caller: UserInfo

  constructor(handler: Handler, caller = ADMIN) {
    this.#handler = handler
    this.#caller = caller
  }

  /** Calls without credentials. */
  anonymous(): Api {
    return new Api(({caller: _caller, ...request}) => this.#handler(request))
  }

  as(username: string, ...groups: string[]): Api {
    return new Api(this.#handler, {username, groups: [...groups, 'system:authenticated']})
  }

  async call(method: string, url: string, options: CallOptions = {}): Promise<Answer> {
    const {status, headers, body} = await this.#raw(method, url, options)
    let text = ''
    if (typeof body === 'string' || body instanceof Uint8Array) text = Buffer.from(body).toString()
    else for await (const chunk of body) text += Buffer.from(chunk).toString()
    const isJson = text !== '' && headers['Content-Type'] === 'application/json'
    const parsed: unknown = isJson && !text.includes('}\n{') ? JSON.parse(text) : text
    return {status, headers, text, body: parsed as AnyBody}
  }

  get(url: string, options?: CallOptions) {
    return this.call('GET', url, options)
  }

  post(url: string, body: unknown, options?: CallOptions) {
    return this.call('POST', url, {...options, body})
  }

  put(url: string, body: unknown, options?: CallOptions) {
    return this.call('PUT', url, {...options, body})
  }

  patch(url: string, body: unknown, kind = 'merge', options?: CallOptions) {
    const type =
      kind === 'apply' ? 'application/apply-patch+yaml' : `application/${kind}-patch+json`
    return this.call('PATCH', url, {...options, body, type})
  }

  delete(url: string, body?: unknown) {
    return this.call('DELETE', url, {body})
  }

  async watch(url: string, options: CallOptions = {}): Promise<Watching> {
    const stop = new AbortController()
    const separator = url.includes('?') ? '&' : '?'
    const path = url.includes('/watch/') ? url : `${url}${separator}watch=true`
    const {status, body} = await this.#raw('GET', path, {...options, signal: stop.signal})
    if (typeof body === 'string' || body instanceof Uint8Array)
      throw new Error(`no watch: ${status} ${Buffer.from(body).toString()}`)
    return new Watching(body, stop)
  }

  #raw(method: string, url: string, options: CallOptions) {
    const {body, type = 'application/json', accept, headers = {}} = options
    const [path = '', query = ''] = url.split('?')
    return this.#handler({
      method,
      path,
      query: new URLSearchParams(query),
      headers: {
        'content-type': type,
        'user-agent': 'test',
        ...(accept === undefined ? {} : {accept}),
        ...headers,
      },
      rawHeaders: Object.entries(headers).flat(),
      body: bytesOf(body),
      remoteAddress: '192.0.2.1',
      signal: options.signal ?? new AbortController().signal,
      caller: this.#caller,
    })
  }
}

function bytesOf(body: unknown): ApiRequest['body'] {
  // A body that arrives later.
  if (typeof body === 'function') return body as () => Promise<Uint8Array>
  if (body instanceof Uint8Array) return body
  if (body === undefined) return new Uint8Array()
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

/** The events of a watch, as they come. */
export class Watching {
  readonly events: WatchEvent<AnyBody>[] = []
  readonly ended: Promise<void>
  readonly #stop: AbortController
  #wake: () => void = () => undefined

  constructor(stream: AsyncIterable<string | Uint8Array>, stop: AbortController) {
    this.#stop = stop
    this.ended = this.#read(stream)
  }

  /** The first so many events, once they are there. */
  async first(count: number): Promise<WatchEvent<AnyBody>[]> {
    await this.until(() => this.events.length >= count)
    return this.events.slice(0, count)
  }

  /** Waits until what has come is enough. */
  async until(enough: () => boolean): Promise<void> {
    while (!enough())
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
  }

  /** `ADDED a`, `MODIFIED a`, … */
  async summary(count: number): Promise<string[]> {
    return (await this.first(count)).map(({type, object}) => `${type} ${nameOf(object)}`)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.ended
  }

  async #read(stream: AsyncIterable<string | Uint8Array>): Promise<void> {
    for await (const chunk of stream) {
      const lines = Buffer.from(chunk).toString().trimEnd().split('\n')
      this.events.push(...lines.map((line) => JSON.parse(line) as WatchEvent<AnyBody>))
      this.#wake()
    }
  }
}

const nameOf = ({metadata, reason}: AnyBody) => metadata.name ?? reason ?? ''

/** Waits for a condition that something else brings about. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5))
}
