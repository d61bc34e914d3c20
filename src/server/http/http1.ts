import type {IncomingMessage, ServerResponse} from 'node:http'
import type {Http2SecureServer} from 'node:http2'
import type {Duplex} from 'node:stream'
import type {TLSSocket} from 'node:tls'
import {systemCode} from '../../errors.ts'
import type {HttpLimits} from './http-limits.ts'

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

const LINES: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
}
const MAX_CHECK_INTERVAL = 5000

/** The HTTP/1.1 side of a server that also speaks HTTP/2: invalid requests are refused and their connections closed. */
export class Http1 {
  /** In the order of their requests. */
  readonly #exchanges = new WeakMap<Duplex, Set<Exchange>>()
  /** Nothing more is read from these connections: what follows could be misread as a new request. */
  readonly #ending = new WeakSet<Duplex>()

  constructor(server: Http2SecureServer, {headerMilliseconds, idleMilliseconds}: HttpLimits) {
    // An HTTP/2 server has these only as properties.
    Object.assign(server, {
      headersTimeout: headerMilliseconds,
      keepAliveTimeout: idleMilliseconds,
      // A watch is one long response, limited by the request's own timeoutSeconds.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(headerMilliseconds, MAX_CHECK_INTERVAL),
    })
    server.on('secureConnection', readThroughStream)
    server.on('clientError', (error: Error, socket: Duplex) => void this.#refuse(error, socket))
  }

  /** Returns whether to serve a request; if not, it has been refused already. */
  accept(request: IncomingMessage, response: ServerResponse): boolean {
    const {socket} = request
    if (this.#ending.has(socket)) return false
    const problem = problemOf(request)
    // Node's parser reports nothing that follows a request to upgrade, which is served like any other.
    if (problem !== undefined || request.headers.upgrade !== undefined) {
      response.shouldKeepAlive = false
      this.#ending.add(socket)
    }
    if (problem !== undefined) {
      const [status, text] = problem
      response.writeHead(status, {'Content-Type': 'text/plain; charset=utf-8'}).end(text)
      return false
    }
    this.#follow(socket, {request, response})
    return true
  }

  #follow(socket: Duplex, exchange: Exchange): void {
    let exchanges = this.#exchanges.get(socket)
    if (exchanges === undefined) this.#exchanges.set(socket, (exchanges = new Set()))
    exchanges.add(exchange)
    exchange.response.once('close', () => exchanges.delete(exchange))
  }

  /** Responds to an invalid or incomplete request, after the responses to earlier requests. */
  async #refuse(error: Error, socket: Duplex): Promise<void> {
    if (!socket.writable) {
      socket.destroy()
      return
    }
    if (this.#ending.has(socket)) return
    this.#ending.add(socket)
    let isAnswered = false
    for (const {request, response} of this.#exchanges.get(socket) ?? []) {
      // Only the last request can be incomplete; then the error is about this one.
      isAnswered = !request.complete && response.headersSent
      if (request.complete || isAnswered) await closed(response)
    }
    if (isAnswered) socket.destroy()
    else endWith(socket, LINES[systemCode(error) ?? ''] ?? '400 Bad Request')
  }
}

/**
 * Makes an HTTP/1.1 connection read through its stream. By default Node's parser reads from TLS directly, and TLS keeps
 * passing bytes while the parser is paused behind an unread response. It then rejects a valid request as broken.
 */
function readThroughStream(socket: TLSSocket): void {
  if (socket.alpnProtocol !== 'h2') socket.on('data', () => undefined)
}

/** What Go's server refuses and Node's does not. */
function problemOf({
  httpVersionMajor,
  httpVersionMinor,
  rawHeaders,
}: IncomingMessage): [status: number, text: string] | undefined {
  if (httpVersionMajor !== 1)
    return [505, '505 HTTP Version Not Supported: unsupported protocol version']
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1) return [400, '400 Bad Request: too many Host headers']
  if (hosts === 0 && httpVersionMinor > 0)
    return [400, '400 Bad Request: missing required Host header']
  return undefined
}

function endWith(socket: Duplex, line: string): void {
  socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  )
}

const closed = (response: ServerResponse) =>
  new Promise<void>((resolve) => {
    if (response.closed) resolve()
    else response.once('close', resolve)
  })
