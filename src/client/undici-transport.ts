import {setImmediate as nextTurn} from 'node:timers/promises'
import type {Dispatcher} from 'undici'
import {elsewhere, TrustError} from '../errors.ts'
import type {Live} from '../trust/live.ts'
import {Cancellation, untilAborted} from './cancellation.ts'
import {connectionError} from './connection-errors.ts'
import type {ServerAccess} from './server-access.ts'
import {ServerConnections, type ConnectionOptions} from './server-connections.ts'
import {
  targetOf,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from './transport.ts'

export interface TransportOptions extends ConnectionOptions {
  /** For a whole request, and for the first line of a stream; 0 for no limit. */
  timeout?: number | undefined
  maxBodyBytes?: number | undefined
}

const MIB = 1024 * 1024

/**
 * HTTP/1.1 over undici. Redirects are never followed: they would send credentials to another server. If the access changes, new
 * requests use the new one, requests in flight finish, and open watches end, as any watch may.
 */
export class UndiciTransport implements Transport {
  readonly #timeout: number
  readonly #maxBodyBytes: number
  readonly #unfollow: () => void
  readonly #retiring = new Set<ServerConnections>()
  #connections: ServerConnections
  #serverCertificate: Uint8Array | undefined

  constructor(access: Live<ServerAccess>, options: TransportOptions = {}) {
    const {timeout = 30_000, maxBodyBytes = 128 * MIB} = options
    this.#timeout = timeout
    this.#maxBodyBytes = maxBodyBytes
    const open = (current: ServerAccess) =>
      new ServerConnections(
        current,
        options,
        (certificate) => (this.#serverCertificate = certificate),
      )
    this.#connections = open(access.current)
    this.#unfollow = access.subscribe((changed) => {
      const old = this.#connections
      this.#connections = open(changed)
      this.#retiring.add(old)
      void old.retire().finally(() => this.#retiring.delete(old))
    })
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const sender = await this.#sender(request)
    const response = await this.#requestAs(sender, request)
    if (response.status !== 401 || !(await isRenewed(sender))) return response
    return await this.#requestAs(await this.#sender(request), request)
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    const sender = await this.#sender(request)
    const stream = await this.#streamAs(sender, request)
    if (stream.status !== 401 || !(await isRenewed(sender))) return stream
    stream.close()
    return await this.#streamAs(await this.#sender(request), request)
  }

  async #requestAs(sender: Sender, request: TransportRequest): Promise<TransportResponse> {
    const cancellation = this.#begin(request)
    try {
      const {statusCode, headers, body} = await send('requests', sender, request, cancellation)
      return {status: statusCode, headers, body: await this.#readWhole(body)}
    } catch (error) {
      throw this.#explain(error, cancellation)
    } finally {
      cancellation.release()
    }
  }

  async #streamAs(sender: Sender, request: TransportRequest): Promise<TransportStream> {
    const cancellation = this.#begin(request)
    try {
      const {statusCode, headers, body} = await send('streams', sender, request, cancellation)
      cancellation.stopTimer()
      return {
        status: statusCode,
        headers,
        body: this.#readOn(body, sender.connections, cancellation),
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
    this.#unfollow()
    await Promise.all([this.#connections, ...this.#retiring].map((one) => one.destroy()))
  }

  #begin(request: TransportRequest): Cancellation {
    const cancellation = new Cancellation(request.signal)
    if (this.#timeout === 0) return cancellation
    cancellation.expireAfter(
      this.#timeout,
      () =>
        new TrustError(
          'TIMED_OUT',
          `${this.#connections.origin} did not respond within ${this.#timeout / 1000} s`,
          {
            facts: {server: this.#connections.origin},
            hints: [elsewhere('check the API server with "trustadm status" on its machine')],
          },
        ),
    )
    return cancellation
  }

  /** Not within the time for a request: a person may have to log in. */
  async #sender({signal}: TransportRequest): Promise<Sender> {
    const ready = this.#nextSender()
    return signal ? await untilAborted(ready, signal) : await ready
  }

  async #nextSender(): Promise<Sender> {
    let connections: ServerConnections
    let token: string | undefined
    do {
      connections = this.#connections
      token = await connections.access.bearerToken?.()
      // Retired meanwhile, they take no new request.
    } while (connections !== this.#connections)
    return {connections, token}
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
    connections: ServerConnections,
    cancellation: Cancellation,
  ): AsyncGenerator<Uint8Array> {
    let isRetired = false
    const release = connections.onRetired(() => {
      isRetired = true
      cancellation.cancel()
    })
    try {
      for await (const chunk of body) yield chunk
    } catch (error) {
      if (!isRetired) throw this.#explain(error, cancellation)
    } finally {
      release()
      cancellation.release()
    }
  }

  #explain(error: unknown, {signal}: Cancellation): Error {
    return signal.aborted
      ? (signal.reason as Error)
      : connectionError(error, this.#connections.origin)
  }

  #tooLarge(): TrustError {
    return new TrustError(
      'ANSWER_TOO_LARGE',
      `the response of ${this.#connections.origin} is larger than ${this.#maxBodyBytes} bytes`,
      {
        facts: {server: this.#connections.origin},
        hints: ['check that the address is that of a Kubernetes API server'],
      },
    )
  }
}

/** The connections of a request, and the token that goes with it. */
interface Sender {
  connections: ServerConnections
  token: string | undefined
}

async function send(
  kind: 'requests' | 'streams',
  {connections, token}: Sender,
  request: TransportRequest,
  {signal}: Cancellation,
): Promise<Dispatcher.ResponseData> {
  const answer = connections[kind].request({
    method: request.method,
    path: connections.basePath + targetOf(request),
    headers: {...request.headers, ...(token && {authorization: `Bearer ${token}`})},
    body: request.body ?? null,
    signal,
  })
  // undici checks the signal only once it has a connection.
  return await untilAborted(answer, signal)
}

/** Whether the request is worth sending again after a 401, which means that nothing was done. */
const isRenewed = async ({connections, token}: Sender): Promise<boolean> =>
  (await connections.access.renewCredential?.(token)) ?? false
