import {sleep} from '../runtime.ts'
import {Backoff, type BackoffOptions} from './backoff.ts'
import {wasCut, wasNeverSent} from './connection-errors.ts'
import {
  retryAfter,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from './transport.ts'

export interface RetryOptions extends BackoffOptions {
  attempts?: number | undefined
  /** If a server asks to wait longer than these milliseconds, its response is returned instead. */
  longestWait?: number | undefined
  /** Tests do not wait. */
  sleep?: typeof sleep | undefined
}

type Outcome<Answer> = {answer: Answer} | {error: unknown}

/**
 * Retries only what cannot be done twice by that, as client-go does: reads after a lost connection
 * or with Retry-After; writes after a 429, or when nothing was sent.
 */
export class RetryingTransport implements Transport {
  readonly #inner: Transport
  readonly #attempts: number
  readonly #longestWait: number
  readonly #backoff: BackoffOptions
  readonly #sleep: typeof sleep

  constructor(inner: Transport, options: RetryOptions = {}) {
    const {attempts = 5, longestWait = 30_000, sleep: wait = sleep, ...backoff} = options
    this.#inner = inner
    this.#attempts = attempts
    this.#longestWait = longestWait
    this.#backoff = {max: 5000, ...backoff}
    this.#sleep = wait
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    return await this.#repeat(request, () => this.#inner.request(request))
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    return await this.#repeat(
      request,
      () => this.#inner.stream(request),
      (unused) => unused.close(),
    )
  }

  serverCertificate(): Uint8Array | undefined {
    return this.#inner.serverCertificate()
  }

  async close(): Promise<void> {
    await this.#inner.close()
  }

  async #repeat<Answer extends Pick<TransportResponse, 'status' | 'headers'>>(
    request: TransportRequest,
    send: () => Promise<Answer>,
    discard?: (answer: Answer) => void,
  ): Promise<Answer> {
    const backoff = new Backoff(this.#backoff)
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await settle(send)
      const wait = attempt < this.#attempts ? this.#waitFor(request, outcome, backoff) : undefined
      if (wait === undefined) {
        if ('error' in outcome) throw outcome.error
        return outcome.answer
      }
      if ('answer' in outcome) discard?.(outcome.answer)
      await this.#sleep(wait, request.signal)
    }
  }

  /** How long to wait before the next attempt; undefined for no further attempt. */
  #waitFor(
    {method, signal}: TransportRequest,
    outcome: Outcome<Pick<TransportResponse, 'status' | 'headers'>>,
    backoff: Backoff,
  ): number | undefined {
    const isRead = method === 'GET'
    if ('error' in outcome) {
      if (signal?.aborted) return undefined
      const again = wasNeverSent(outcome.error) || (isRead && wasCut(outcome.error))
      return again ? backoff.next() : undefined
    }
    const {status, headers} = outcome.answer
    if (status !== 429 && !(isRead && status >= 500)) return undefined
    const asked = retryAfter(headers)
    if (asked === undefined || asked > this.#longestWait) return undefined
    return Math.max(asked, backoff.next())
  }
}

async function settle<Answer>(send: () => Promise<Answer>): Promise<Outcome<Answer>> {
  try {
    return {answer: await send()}
  } catch (error) {
    return {error}
  }
}
