import type {ApiRequest, ApiResponse} from './kernel/api-request.ts'
import type {RequestInfo} from './authz/request-info.ts'
import {watchesIn} from './limits/memory-budget.ts'
import {costOf} from './limits/large-bodies.ts'
import type {LimitedCaller, RequestLimiter} from './limits/request-limiter.ts'
import type {RequestLabels, RequestMetrics} from './metrics/request-metrics.ts'
import {StatusError, tooManyRequests} from './kernel/status.ts'

export interface PlaceDeps {
  limiter: RequestLimiter
  metrics: RequestMetrics
  labelsOf: (request: ApiRequest, info: RequestInfo | undefined) => RequestLabels
}

const BUSY_SECONDS = 1
/** Small enough for the connection's own buffers. */
const SHORT_ANSWER = 64 * 1024
/** The memory of a response that is built piece by piece. */
const LONG_ANSWER = 1536 * 1024
const READING = new Set(['GET', 'HEAD', 'OPTIONS'])

/** One request's share of what all callers use: memory for its body and a slot for its work, or a place for its watch. */
export class RequestPlace {
  readonly #deps: PlaceDeps
  readonly #caller: LimitedCaller
  readonly #request: ApiRequest
  readonly #held: (() => void)[] = []
  #stop: AbortController | undefined

  constructor(deps: PlaceDeps, caller: LimitedCaller, request: ApiRequest) {
    this.#deps = deps
    this.#caller = caller
    this.#request = request
  }

  /** The request as it is served, within what its caller may have. Throws TooManyRequests. */
  async admit(info: RequestInfo): Promise<ApiRequest> {
    const request = this.#request
    request.held?.belongsTo(this.#caller.user)
    if (info.verb === 'watch') return this.#counted('watches', () => this.#watch(info))
    if (request.object !== undefined) {
      this.#held.push(this.#deps.metrics.started('mutating'))
      return request
    }
    if (info.kind === 'resource' && !READING.has(request.method)) {
      return {...request, body: () => this.#counted('requests', () => this.#read(request.body))}
    }
    await this.#counted('requests', () => this.#work('readOnly', request.signal))
    return request
  }

  /** The response with the memory that it takes until it is read, if it is large enough to count. Throws TooManyRequests. */
  counted(answer: ApiResponse): ApiResponse {
    const {body, finite} = answer
    const isWhole = typeof body === 'string' || body instanceof Uint8Array
    const bytes = isWhole ? body.length : finite === true ? LONG_ANSWER : 0
    if (bytes <= SHORT_ANSWER) return answer
    const stop = new AbortController()
    const over = this.#deps.limiter.openAnswer(this.#caller, bytes, () => stop.abort())
    return {...answer, reading: {signal: stop.signal, over}}
  }

  /** Gives everything back. */
  end(): void {
    for (const release of this.#held.splice(0)) release()
  }

  /** Ends a watch; a StatusError is sent as its last event. */
  stop(reason: Error): void {
    this.#stop?.abort(reason)
  }

  /** A watch can be ended if others need its place more; to its caller this looks like a timeout. */
  #watch(info: RequestInfo): ApiRequest {
    const {limiter, metrics, labelsOf} = this.#deps
    const stop = this.#stopWithCaller()
    this.#stop = stop
    const reclaim = () => {
      metrics.watchReclaimed()
      stop.abort(new Error('others need the place'))
    }
    const {held, query} = this.#request
    const selector = (query.get('labelSelector') ?? '') + (query.get('fieldSelector') ?? '')
    const places = held === undefined ? 1 : watchesIn(held.bytes, selector.length)
    this.#held.push(limiter.openWatch(this.#caller, reclaim, places))
    held?.release()
    this.#held.push(metrics.watchStarted(labelsOf(this.#request, info)))
    return {...this.#request, signal: stop.signal}
  }

  /** Reads a body, and only then takes a slot: a slow sender must not occupy one. */
  async #read(body: ApiRequest['body']): Promise<Uint8Array> {
    const {limiter} = this.#deps
    const stop = this.#stopWithCaller()
    let bytes = body
    if (typeof bytes === 'function') {
      const upload = limiter.openUpload(this.#caller, () => stop.abort(busy()))
      this.#held.push(upload.release)
      const take = (count: number) => {
        if (!upload.take(count)) throw busy()
      }
      const maxBytes = limiter.mostBodyBytes(this.#caller)
      bytes = await bytes({take, maxBytes, signal: stop.signal})
    }
    const cost = costOf(bytes.length, this.#request.headers['content-type'])
    const begin = await limiter.takeTurn(this.#caller, cost, stop.signal)
    try {
      await this.#work('mutating', stop.signal)
      return bytes
    } finally {
      begin()
    }
  }

  async #work(kind: 'mutating' | 'readOnly', signal: AbortSignal): Promise<void> {
    const {limiter, metrics} = this.#deps
    this.#held.push(await limiter.admit(this.#caller, signal))
    this.#held.push(metrics.started(kind))
  }

  #stopWithCaller(): AbortController {
    const {signal} = this.#request
    const stop = new AbortController()
    const follow = () => stop.abort(signal.reason)
    signal.addEventListener('abort', follow, {once: true})
    this.#held.push(() => signal.removeEventListener('abort', follow))
    if (signal.aborted) follow()
    return stop
  }

  async #counted<T>(kind: 'requests' | 'watches', work: () => Promise<T> | T): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof StatusError && error.code === 429) this.#deps.metrics.rejected(kind)
      throw error
    }
  }
}

const busy = () => tooManyRequests(BUSY_SECONDS)
