import {IncomingMessage, maxHeaderSize, type ServerResponse} from 'node:http'
import {constants, createSecureServer, type Http2SecureServer} from 'node:http2'
import type {AddressInfo, Socket} from 'node:net'
import type {TLSSocket} from 'node:tls'
import type {ApiRequest, Handler} from '../kernel/api-request.ts'
import {ProcessorSlice} from '../limits/processor-slice.ts'
import type {ConnectionLimit} from '../metrics/connection-metrics.ts'
import {systemCode, TrustError} from '../../errors.ts'
import {every} from '../../runtime.ts'
import {Arrivals} from './arrivals.ts'
import {discardBody, readBody, type BodyLimits} from './body.ts'
import {Connections, HandshakeBudget, type Connection} from './connections.ts'
import {Exchanges, type HeldExchange, type HttpRequest, type HttpResponse} from './exchanges.ts'
import type {Descriptors} from './descriptors.ts'
import {Http1} from './http1.ts'
import {Http2} from './http2.ts'
import {DEFAULT_HTTP_LIMITS, type HttpLimits} from './http-limits.ts'
import {contextOf, PeerCertificateReader, type TlsMaterial} from './tls.ts'
import {send} from './response.ts'
import {UnsentBytes} from './unsent-bytes.ts'

export type {HttpLimits} from './http-limits.ts'
export type {TlsMaterial} from './tls.ts'

export interface ListenerOptions {
  handler: Handler
  host: string
  port: number
  tls: TlsMaterial
  limits?: Partial<HttpLimits>
  /** The time for requests in each turn of the event loop. */
  slice?: ProcessorSlice
  descriptors?: Pick<Descriptors, 'look' | 'spare'>
  /** Called when a limit of connections is reached. */
  onLimit?: (what: ConnectionLimit) => void
}

/** Where a request has come from, and what it takes. */
interface Incoming {
  socket: TLSSocket
  connection: Connection
  held: HeldExchange
}

const {NGHTTP2_INTERNAL_ERROR, NGHTTP2_REFUSED_STREAM} = constants

/** How long finished responses may take to leave the sockets' buffers at shutdown. */
const FLUSH = 500
/** In milliseconds. Between two looks others open fewer descriptors than are left to them. */
const LOOK_EVERY = 1000

/** TLS, HTTP/1.1 and HTTP/2 on one port; turns what arrives into an ApiRequest, and the response into bytes. */
export class Listener {
  readonly #server: Http2SecureServer
  readonly #handler: Handler
  readonly #limits: HttpLimits
  readonly #http1: Http1
  readonly #http2: Http2
  readonly #connections: Connections
  readonly #arrivals: Arrivals
  readonly #exchanges: Exchanges
  readonly #unsent: UnsentBytes
  readonly #peers = new PeerCertificateReader()
  readonly #inFlight = new Set<Promise<void>>()
  readonly #callers = new Set<AbortController>()
  #tls: TlsMaterial
  #closing = false

  private constructor({handler, tls, limits, descriptors, onLimit, slice: given}: ListenerOptions) {
    const slice = given ?? new ProcessorSlice()
    this.#handler = handler
    this.#tls = tls
    this.#arrivals = new Arrivals(slice)
    this.#limits = {...DEFAULT_HTTP_LIMITS, ...limits}
    this.#unsent = new UnsentBytes(this.#limits.unsentBytes)
    this.#connections = new Connections(this.#limits.connections, new HandshakeBudget(), onLimit)
    this.#exchanges = new Exchanges({
      bytes: this.#limits.exchangeBytes,
      stallMilliseconds: this.#limits.stallMilliseconds,
      known: (connection, caller) => this.#connections.known(connection, caller),
      close: (connection) => this.#connections.closeCostly(connection),
    })
    this.#server = createSecureServer({
      ...contextOf({...tls, clientAuthorities: ''}),
      allowHTTP1: true,
      requestCert: true,
      // Checked on every request instead, against the current bundle.
      rejectUnauthorized: false,
      handshakeTimeout: this.#limits.handshakeMilliseconds,
      settings: {
        maxConcurrentStreams: this.#limits.streamsPerConnection,
        // As HTTP/1.1: what a caller may send before it is known is taken apart on the thread that serves everybody.
        maxHeaderListSize: maxHeaderSize,
      },
    })
    this.#http1 = new Http1(this.#server, this.#limits)
    this.#followConnections(slice)
    this.#http2 = new Http2(this.#server, this.#connections, this.#limits)
    this.#server.on('request', (request, response) => this.#track(request, response))
    if (descriptors !== undefined) this.#followDescriptors(descriptors)
    this.#server.on('tlsClientError', (_error: Error, socket: TLSSocket) => socket.destroy())
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

  /** What open requests hold, but for watches. */
  get heldBytes(): number {
    return this.#exchanges.bytes
  }

  /** New connections use this certificate and key; open ones are not affected. */
  setTls(tls: TlsMaterial): void {
    this.#tls = tls
    this.#server.setSecureContext(contextOf(tls))
  }

  /**
   * Names the CAs of clients in handshakes: not before the first one, since Node.js then reads its list of public CAs too, which
   * takes as long as its own start.
   */
  #nameAuthorities(): void {
    try {
      this.setTls(this.#tls)
    } catch {
      // Then none is named, and a caller sends the certificate that it has.
    }
  }

  /** Stops listening, ends the streams, gives requests in progress some time to finish, then closes what is left. */
  async close(graceMilliseconds: number): Promise<void> {
    this.#closing = true
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const caller of this.#callers) caller.abort(shuttingDown())
    this.#connections.drain()
    let timer: NodeJS.Timeout | undefined
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMilliseconds)
    })
    await Promise.race([this.#settled(), grace])
    clearTimeout(timer)
    this.#connections.drain()
    const flush = setTimeout(() => this.#connections.destroyAll(), FLUSH)
    await closed
    this.#exchanges.close()
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

  /** Connections leave some to everything else. */
  #followDescriptors(descriptors: Pick<Descriptors, 'look' | 'spare'>): void {
    const follow = () => {
      descriptors.look()
      this.#connections.leave(descriptors.spare)
    }
    follow()
    this.#server.once('close', every(LOOK_EVERY, follow))
  }

  #followConnections(slice: ProcessorSlice): void {
    this.#server.prependOnceListener('connection', () => this.#nameAuthorities())
    this.#server.prependListener('connection', (raw: Socket) => {
      // A watch event must not wait until the previous one is acknowledged.
      raw.setNoDelay()
      // A machine that is switched off does not close its connections.
      raw.setKeepAlive(true, this.#limits.keepAliveMilliseconds)
      slice.accepted()
      this.#connections.add(raw)
    })
    this.#server.prependListener('secureConnection', (socket: TLSSocket) => {
      this.#connections.secure(socket, this.#peers.read(socket)?.chain ?? [])
      socket.on('error', () => undefined)
    })
  }

  #track(request: HttpRequest, response: HttpResponse): void {
    if (request instanceof IncomingMessage) {
      if (!this.#http1.accept(request, response as ServerResponse)) return
    }
    const socket =
      'stream' in request ? this.#http2.socketOf(request) : (request.socket as TLSSocket)
    const connection = this.#connections.of(socket)
    const held = connection && this.#exchanges.open(request, response, connection)
    if (connection === undefined || held === undefined) {
      giveUp(request, NGHTTP2_REFUSED_STREAM)
      return
    }
    const work = this.#serve(request, response, {socket, connection, held}).catch(() => {
      // The handler returns a response for every failure: the caller has left, or may not read the rest.
      giveUp(request, NGHTTP2_INTERNAL_ERROR)
    })
    this.#inFlight.add(work)
    void work.finally(() => this.#inFlight.delete(work))
  }

  async #serve(
    request: HttpRequest,
    response: HttpResponse,
    {socket, connection, held}: Incoming,
  ): Promise<void> {
    const end = this.#connections.begin(connection)
    const caller = new AbortController()
    const {signal} = caller
    const {bodyBytes: maxBytes, bodyMilliseconds: milliseconds, stallMilliseconds} = this.#limits
    const body = {maxBytes, milliseconds}
    this.#callers.add(caller)
    if (this.#closing) caller.abort(shuttingDown())
    // The request's own 'close' fires when its body ends; the response's fires when the exchange does.
    response.once('close', () => {
      // After the response nobody listens, and an abort would cost as much as a small response.
      if (!response.writableEnded) caller.abort(GONE_AWAY)
    })
    response.on('error', () => undefined)
    let over: () => void = () => undefined
    try {
      const {authorization} = request.headers
      const arrival = this.#arrivals.add(socket, {peer: this.#peers.read(socket), authorization})
      try {
        await arrival.turn(signal)
      } catch {
        giveUp(request, NGHTTP2_REFUSED_STREAM)
        return
      }
      const apiRequest = this.#toApiRequest(request, {socket, held}, signal, body)
      const answer = await this.#handler({...apiRequest, loggedIn: arrival.loggedIn})
      const {reading} = answer
      if (reading !== undefined) {
        over = reading.over
        reading.signal.addEventListener('abort', () => response.destroy(), {once: true})
        if (reading.signal.aborted) response.destroy()
      }
      await send(response, answer, {
        closeConnection: this.#closing,
        signal,
        stallMilliseconds,
        unsent: this.#unsent,
        held,
      })
    } finally {
      over()
      this.#callers.delete(caller)
      end()
      if (request instanceof IncomingMessage) {
        discardBody(request, {maxBytes, milliseconds: stallMilliseconds})
      }
    }
  }

  #toApiRequest(
    request: HttpRequest,
    {socket, held}: Pick<Incoming, 'held' | 'socket'>,
    signal: AbortSignal,
    limits: BodyLimits,
  ): ApiRequest {
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    return {
      method: request.method ?? 'GET',
      path: mark === -1 ? url : url.slice(0, mark),
      query: new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1)),
      headers: request.headers as Record<string, string | undefined>,
      rawHeaders: request.rawHeaders,
      body: (memory) => readBody(request, limits, memory),
      peer: this.#peers.read(socket),
      remoteAddress: socket.remoteAddress ?? '',
      signal,
      held,
    }
  }
}

/** HTTP/2: resets the stream only. Its client may send a refused request again, however it writes. Destroying the request would leave it open. */
function giveUp(request: HttpRequest, code: number): void {
  if ('stream' in request) request.stream.close(code)
  else request.destroy()
}

/** One for all: every watch ends this way, and an error of its own would cost more than the rest of its end. */
const GONE_AWAY = new Error('the caller has gone away')

const shuttingDown = () => new Error('the server is shutting down')

/** Why the server cannot listen, and what to do about it. */
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
