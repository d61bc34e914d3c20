import {setImmediate as nextTurn} from 'node:timers/promises'
import {Pool, type Dispatcher} from 'undici'
import {TrustError} from '../errors.ts'
import {Cancellation, untilAborted} from './cancellation.ts'
import {connectionError} from './connection-errors.ts'
import {connectorFor} from './connector.ts'
import {proxyFromEnvironment, type Environment} from './proxy-rules.ts'
import {withoutTrailingSlashes, type ServerAccess} from './server-access.ts'
import {
  targetOf,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from './transport.ts'
import {parseProxy} from './tunnel.ts'

export interface TransportOptions {
  /** For a whole request, and for the first line of a stream. */
  timeout?: number | undefined
  connectTimeout?: number | undefined
  maxBodyBytes?: number | undefined
  /** The environment with the proxy variables. */
  environment?: Environment | undefined
  /** Watches share the connections of requests: for a caller that does one thing after the other, it saves a handshake. */
  oneAtATime?: boolean | undefined
}

const MIB = 1024 * 1024

/** HTTP/1.1 over undici. Redirects are never followed: they would send credentials to another server. */
export class UndiciTransport implements Transport {
  readonly #access: ServerAccess
  readonly #origin: string
  readonly #basePath: string
  readonly #timeout: number
  readonly #maxBodyBytes: number
  readonly #requests: Pool
  /** Each watch occupies a connection, and must not block short requests. */
  readonly #streams: Pool
  #serverCertificate: Uint8Array | undefined

  constructor(access: ServerAccess, options: TransportOptions = {}) {
    const {timeout = 30_000, connectTimeout = 10_000, maxBodyBytes = 128 * MIB} = options
    const server = new URL(access.server)
    const proxyText =
      access.proxyUrl ?? proxyFromEnvironment(server, options.environment ?? process.env)
    const connect = connectorFor(access, {
      proxy: proxyText === undefined ? undefined : parseProxy(proxyText),
      timeout: connectTimeout,
      onServer: (certificate) => (this.#serverCertificate = certificate),
    })
    this.#access = access
    this.#origin = server.origin
    this.#basePath = withoutTrailingSlashes(server.pathname)
    this.#timeout = timeout
    this.#maxBodyBytes = maxBodyBytes
    // One deadline for the whole request: a server that sends single bytes resets undici's own timers.
    const clocks = {headersTimeout: 0, bodyTimeout: 0}
    this.#requests = new Pool(server.origin, {connect, connections: 16, ...clocks})
    this.#streams = options.oneAtATime
      ? this.#requests
      : new Pool(server.origin, {connect, ...clocks})
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const cancellation = this.#begin(request)
    try {
      const {statusCode, headers, body} = await this.#send(this.#requests, request, cancellation)
      return {status: statusCode, headers, body: await this.#readWhole(body)}
    } catch (error) {
      throw this.#explain(error, cancellation)
    } finally {
      cancellation.release()
    }
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    const cancellation = this.#begin(request)
    try {
      const {statusCode, headers, body} = await this.#send(this.#streams, request, cancellation)
      cancellation.stopTimer()
      return {
        status: statusCode,
        headers,
        body: this.#readOn(body, cancellation),
        close: () => cancellation.cancel(),
      }
    } catch (error) {
      cancellation.release()
      throw this.#explain(error, cancellation)
    }
  }

  serverCertificate(): Uint8Array | undefined {
    return this.#serverCertificate
  }

  async close(): Promise<void> {
    await Promise.all([this.#requests.destroy(), this.#streams.destroy()])
  }

  #begin(request: TransportRequest): Cancellation {
    const cancellation = new Cancellation(request.signal)
    cancellation.expireAfter(
      this.#timeout,
      () =>
        new TrustError('TIMED_OUT', `${this.#origin} did not respond within ${this.#timeout} ms`, {
          facts: {server: this.#origin},
          hints: ['check the API server with "trustadm status" on its machine'],
        }),
    )
    return cancellation
  }

  async #send(
    pool: Pool,
    request: TransportRequest,
    cancellation: Cancellation,
  ): Promise<Dispatcher.ResponseData> {
    const token = await this.#access.bearerToken?.()
    const answer = pool.request({
      method: request.method,
      path: this.#basePath + targetOf(request),
      headers: {...request.headers, ...(token && {authorization: `Bearer ${token}`})},
      body: request.body ?? null,
      signal: cancellation.signal,
    })
    // undici checks the signal only once it has a connection.
    return await untilAborted(answer, cancellation.signal)
  }

  async #readWhole(body: AsyncIterable<Buffer>): Promise<Uint8Array> {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of body) {
      size += chunk.length
      if (size > this.#maxBodyBytes) throw this.#tooLarge()
      chunks.push(chunk)
    }
    // undici counts a connection as free one tick later: waiting for that saves a second handshake.
    await nextTurn()
    return Buffer.concat(chunks, size)
  }

  async *#readOn(
    body: AsyncIterable<Uint8Array>,
    cancellation: Cancellation,
  ): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) yield chunk
    } catch (error) {
      throw this.#explain(error, cancellation)
    } finally {
      cancellation.release()
    }
  }

  #explain(error: unknown, {signal}: Cancellation): Error {
    return signal.aborted ? (signal.reason as Error) : connectionError(error, this.#origin)
  }

  #tooLarge(): TrustError {
    return new TrustError(
      'ANSWER_TOO_LARGE',
      `the response of ${this.#origin} is larger than ${this.#maxBodyBytes} bytes`,
      {
        facts: {server: this.#origin},
        hints: ['check that the address is that of a Kubernetes API server'],
      },
    )
  }
}
