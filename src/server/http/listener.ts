import type {IncomingMessage, ServerResponse} from 'node:http'
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
} from 'node:http2'
import type {AddressInfo} from 'node:net'
import type {TLSSocket} from 'node:tls'
import {systemCode, TrustError} from '../../errors.ts'
import type {ApiRequest, Handler} from '../api-request.ts'
import {readBody} from './body.ts'
import {Connections} from './connections.ts'
import {PeerCertificateReader} from './peer-certificates.ts'
import {send} from './response.ts'

export interface TlsMaterial {
  /** The serving certificate with its intermediates, PEM. */
  certificate: string
  key: string
  /** The authorities named to callers when a certificate is asked of them. */
  clientAuthorities: string
}

export interface HttpLimits {
  bodyBytes: number
  bodyMilliseconds: number
  headerMilliseconds: number
  idleMilliseconds: number
  handshakeMilliseconds: number
  connections: number
  streamsPerConnection: number
}

/** As kube-apiserver's, where it has them. */
export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  bodyBytes: 3 * 1024 * 1024,
  bodyMilliseconds: 60_000,
  headerMilliseconds: 32_000,
  idleMilliseconds: 90_000,
  handshakeMilliseconds: 10_000,
  connections: 10_000,
  streamsPerConnection: 250,
}

export interface ListenerOptions {
  handler: Handler
  host: string
  port: number
  tls: TlsMaterial
  limits?: Partial<HttpLimits>
}

type HttpRequest = IncomingMessage | Http2ServerRequest
type HttpResponse = ServerResponse | Http2ServerResponse

/** TLS, HTTP/1.1 and HTTP/2 on one port; turns what arrives into an ApiRequest and the answer into bytes. */
export class Listener {
  readonly #server: Http2SecureServer
  readonly #handler: Handler
  readonly #limits: HttpLimits
  readonly #connections: Connections
  readonly #sockets = new WeakMap<Http2Session, TLSSocket>()
  readonly #peers = new PeerCertificateReader()
  readonly #inFlight = new Set<Promise<void>>()
  readonly #streams = new AbortController()
  #closing = false

  private constructor({handler, tls, limits}: ListenerOptions) {
    this.#handler = handler
    this.#limits = {...DEFAULT_HTTP_LIMITS, ...limits}
    this.#connections = new Connections(this.#limits.connections)
    this.#server = createSecureServer({
      ...contextOf(tls),
      allowHTTP1: true,
      requestCert: true,
      // Checked on every request instead, against the bundle of that moment.
      rejectUnauthorized: false,
      handshakeTimeout: this.#limits.handshakeMilliseconds,
      settings: {maxConcurrentStreams: this.#limits.streamsPerConnection},
    })
    Object.assign(this.#server, {
      headersTimeout: this.#limits.headerMilliseconds,
      keepAliveTimeout: this.#limits.idleMilliseconds,
      // A watch is one long answer: its time is bounded by the request's own timeoutSeconds.
      requestTimeout: 0,
    })
    let newest: TLSSocket | undefined
    this.#server.prependListener('secureConnection', (socket: TLSSocket) => {
      newest = socket
      this.#connections.add(socket)
      socket.on('error', () => undefined)
    })
    // Emitted while the connection's own event is, so the newest socket is the session's.
    this.#server.on('session', (session) => {
      if (newest !== undefined) this.#sockets.set(session, newest)
      this.#connections.addSession(session)
      session.setTimeout(this.#limits.idleMilliseconds, () => session.close())
      session.on('error', () => undefined)
    })
    this.#server.on('request', (request, response) => this.#track(request, response))
    this.#server.on('sessionError', () => undefined)
    this.#server.on('tlsClientError', () => undefined)
    this.#server.on('clientError', (_error: Error, socket: TLSSocket) => {
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
      else socket.destroy()
    })
  }

  static async start(options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(options)
    await listener.#listen(options.host, options.port)
    return listener
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get openConnections(): number {
    return this.#connections.open
  }

  /** New connections get this material; open ones keep going. */
  setTls(tls: TlsMaterial): void {
    this.#server.setSecureContext(contextOf(tls))
  }

  /** Stops listening, ends the streams, lets requests in flight finish for so long, then closes what is left. */
  async close(graceMilliseconds: number): Promise<void> {
    this.#closing = true
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#streams.abort(new Error('the server is shutting down'))
    this.#connections.drain()
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMilliseconds)
    })
    await Promise.race([this.#settled(), patience])
    clearTimeout(timer)
    this.#connections.drain()
    // What was answered may still be on its way out of the sockets' buffers.
    const flush = setTimeout(() => this.#connections.destroyAll(), 500)
    await closed
    clearTimeout(flush)
  }

  async #settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)
  }

  async #listen(host: string, port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error) => reject(listenError(error, host, port))
      this.#server.once('error', fail)
      this.#server.listen({host, port}, () => {
        this.#server.off('error', fail)
        this.#server.on('error', () => undefined)
        resolve()
      })
    })
  }

  #track(request: HttpRequest, response: HttpResponse): void {
    const work = this.#serve(request, response).catch(() => {
      // Only a caller that has gone away gets here: the handler answers every failure.
      request.destroy()
    })
    this.#inFlight.add(work)
    void work.finally(() => this.#inFlight.delete(work))
  }

  async #serve(request: HttpRequest, response: HttpResponse): Promise<void> {
    const socket = this.#socketOf(request)
    const end = this.#connections.begin(socket)
    const caller = new AbortController()
    // The request's own 'close' fires when its body ends; the response's fires when the exchange does.
    response.once('close', () => caller.abort(new Error('the caller has gone away')))
    response.on('error', () => undefined)
    try {
      const signal = AbortSignal.any([caller.signal, this.#streams.signal])
      const answer = await this.#handler(this.#toApiRequest(request, socket, signal))
      await send(response, answer, {closeConnection: this.#closing, signal})
    } finally {
      end()
    }
  }

  /** An HTTP/2 request shows only a stand-in for its socket. */
  #socketOf(request: HttpRequest): TLSSocket {
    if (!('stream' in request)) return request.socket as TLSSocket
    const {session} = request.stream
    return (session && this.#sockets.get(session)) ?? (request.socket as TLSSocket)
  }

  #toApiRequest(request: HttpRequest, socket: TLSSocket, signal: AbortSignal): ApiRequest {
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    const peer = this.#peers.read(socket)
    const {bodyBytes: maxBytes, bodyMilliseconds: milliseconds} = this.#limits
    return {
      method: request.method ?? 'GET',
      path: mark === -1 ? url : url.slice(0, mark),
      query: new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1)),
      headers: request.headers as Record<string, string | undefined>,
      rawHeaders: request.rawHeaders,
      body: () => readBody(request, {maxBytes, milliseconds}),
      ...(peer === undefined ? {} : {peer}),
      remoteAddress: socket.remoteAddress ?? '',
      signal,
    }
  }
}

const contextOf = ({certificate, key, clientAuthorities}: TlsMaterial) => ({
  cert: certificate,
  key,
  ca: clientAuthorities,
  minVersion: 'TLSv1.2' as const,
})

function listenError(error: Error, host: string, port: number): TrustError {
  const where = `${host}:${port}`
  switch (systemCode(error)) {
    case 'EADDRINUSE':
      return new TrustError('PORT_IN_USE', `something already listens on ${where}`, {
        cause: error,
        hints: ['choose another port with --apiserver-bind-port, or 0 to let the system pick one'],
      })
    case 'EACCES':
      return new TrustError('SERVER_NOT_STARTED', `not allowed to listen on ${where}`, {
        cause: error,
        hints: ['ports below 1024 need privileges; choose another with --apiserver-bind-port'],
      })
    case 'EADDRNOTAVAIL':
      return new TrustError('SERVER_NOT_STARTED', `${host} is not an address of this machine`, {
        cause: error,
        hints: ['choose one of this machine with --bind-address, or 0.0.0.0 for all'],
      })
    default:
      return new TrustError('SERVER_NOT_STARTED', `cannot listen on ${where}: ${error.message}`, {
        cause: error,
      })
  }
}
