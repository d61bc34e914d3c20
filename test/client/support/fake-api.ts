import type {RequestListener, ServerResponse} from 'node:http'
import type {ApiObject} from '../../../src/api/meta.ts'

interface Recorded {
  revision: number
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  object: ApiObject
}

/** A small API server for ConfigMaps whose state outlives its connections: lists, watches, compaction. */
export class FakeApi {
  readonly objects = new Map<string, ApiObject>()
  readonly requests: string[] = []
  revision = 10
  pageSize = Infinity
  /** Called before an answer; true: it was answered there. */
  intercept: (path: URL, response: ServerResponse) => boolean = () => false
  #history: Recorded[] = []
  #compacted = 0
  readonly #watchers = new Map<ServerResponse, (record: Recorded) => void>()

  get watchers(): number {
    return this.#watchers.size
  }

  put(name: string, value: string): void {
    const type = this.objects.has(name) ? 'MODIFIED' : 'ADDED'
    this.revision += 1
    const uid = this.objects.get(name)?.metadata.uid ?? `uid-${this.revision}`
    const metadata = {name, namespace: 'ns', uid, resourceVersion: String(this.revision)}
    const object = {apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {value}}
    this.objects.set(name, object)
    this.#record({revision: this.revision, type, object})
  }

  remove(name: string): void {
    const object = this.objects.get(name)
    if (!object) return
    this.revision += 1
    this.objects.delete(name)
    const metadata = {...object.metadata, resourceVersion: String(this.revision)}
    this.#record({revision: this.revision, type: 'DELETED', object: {...object, metadata}})
  }

  /** Forgets the history: watches from before get 410. */
  compact(): void {
    this.#history = []
    this.#compacted = this.revision
  }

  /** Cuts every watch; halfway through an event, if asked. */
  cutWatches(midEvent = false): void {
    for (const response of this.#watchers.keys()) {
      if (midEvent) response.write('{"type":"MODIFIED","object":{"metadata":{"name":"half')
      response.destroy()
    }
    this.#watchers.clear()
  }

  endWatches(): void {
    for (const response of this.#watchers.keys()) response.end()
    this.#watchers.clear()
  }

  sendToWatchers(event: unknown): void {
    for (const response of this.#watchers.keys()) response.write(`${JSON.stringify(event)}\n`)
  }

  /** What a client's copy must be in the end. */
  snapshot(): string[] {
    return [...this.objects.values()].map((object) => describe(object)).sort()
  }

  readonly listener: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '/', 'https://server')
    this.requests.push(`${request.method ?? ''} ${request.url ?? ''}`)
    if (this.intercept(url, response)) return
    if (url.searchParams.get('watch')) return this.#watch(url, response)
    this.#list(url, response)
  }

  #list(url: URL, response: ServerResponse): void {
    const start = Number(url.searchParams.get('continue') ?? 0)
    const limit = Math.min(Number(url.searchParams.get('limit') ?? Infinity), this.pageSize)
    const all = [...this.objects.values()].map(({metadata, data}) => ({metadata, data}))
    const items = all.slice(start, start + limit)
    const more = start + limit < all.length ? {continue: String(start + limit)} : {}
    answer(response, 200, {
      apiVersion: 'v1',
      kind: 'ConfigMapList',
      metadata: {resourceVersion: String(this.revision), ...more},
      items,
    })
  }

  #watch(url: URL, response: ServerResponse): void {
    const since = Number(url.searchParams.get('resourceVersion') ?? 0)
    response.writeHead(200, {'content-type': 'application/json'})
    response.flushHeaders()
    if (since < this.#compacted) {
      const object = status(410, 'Expired', `too old resource version: ${since}`)
      response.end(`${JSON.stringify({type: 'ERROR', object})}\n`)
      return
    }
    const send = ({type, object}: Recorded) => response.write(`${JSON.stringify({type, object})}\n`)
    this.#history.filter(({revision}) => revision > since).forEach(send)
    this.#watchers.set(response, send)
    response.on('close', () => this.#watchers.delete(response))
  }

  #record(record: Recorded): void {
    this.#history.push(record)
    for (const send of this.#watchers.values()) send(record)
  }
}

export function describe({metadata, data}: ApiObject): string {
  return `${metadata.name ?? ''}@${metadata.resourceVersion ?? ''}=${JSON.stringify(data)}`
}

export function status(code: number, reason: string, message: string, details = {}) {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    details,
    code,
  }
}

export function answer(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(code, {'content-type': 'application/json', ...headers})
  response.end(JSON.stringify(body))
}
