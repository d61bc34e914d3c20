import type {IncomingMessage, ServerResponse} from 'node:http'
import type {Http2ServerRequest, Http2ServerResponse} from 'node:http2'
import type {UserInfo} from '../../api/meta.ts'
import type {HeldRequest} from '../kernel/api-request.ts'
import {tooManyRequests} from '../kernel/status.ts'
import {callerGroup, isAnonymous, isMaster} from '../kernel/users.ts'
import {SharedPool, type Holding, type Member} from '../limits/shared-pool.ts'
import {every} from '../../runtime.ts'
import type {Connection} from './connections.ts'

export type HttpRequest = IncomingMessage | Http2ServerRequest
export type HttpResponse = ServerResponse | Http2ServerResponse

export interface ExchangesOptions {
  /** For all of them together. */
  bytes: number
  /** How long a caller may leave a response, or what is left of it, unread. */
  stallMilliseconds: number
  /** The caller of a connection is allowed what it asks for. */
  known: (connection: Connection, caller: Member) => void
  /** Ends a connection that holds most and has never had a caller that may do something. */
  close: (connection: Connection) => void
}

const KIB = 1024
/** Measured with 10,000 of them over HTTP/2: stream, request and response, without headers. */
const EXCHANGE = 16 * KIB
/** Measured: two texts and their places in the lists of headers. */
const HEADER = 150
const UNKNOWN = 'unknown'
const MASTERS = 'masters'
/** Each takes from the others what it needs of its own part: strangers keep no caller out, and callers no stranger. */
const SHARES = {
  [UNKNOWN]: 2 / 8,
  nodes: 2 / 8,
  people: 1 / 8,
  serviceAccounts: 1 / 8,
  tokens: 1 / 8,
  [MASTERS]: 1 / 8,
}
/** In milliseconds. Between two looks a caller can send the window of each of its streams. */
const LOOK_EVERY = 250

/**
 * What callers make the server hold, in bytes, from the first header to the end of the stream: the stream itself, headers, a body that nobody
 * has read yet, a short response that its caller has not read. If all is taken, whoever holds most loses something: a caller the oldest of
 * its requests, a connection that has never had a caller everything.
 */
export class Exchanges {
  readonly #options: ExchangesOptions
  readonly #pool: SharedPool
  readonly #open = new Set<Exchange>()
  #stop: (() => void) | undefined
  #connections = 0
  readonly #strangers = new WeakMap<Connection, Member>()

  constructor(options: ExchangesOptions) {
    this.#options = options
    this.#pool = new SharedPool({
      total: options.bytes,
      perHolder: Math.floor(options.bytes / 2),
      shares: SHARES,
    })
  }

  get bytes(): number {
    return this.#pool.taken
  }

  /** Counts a request until its response has been read and its body has come or is given up. Undefined: there is no room for it. */
  open(
    request: HttpRequest,
    response: HttpResponse,
    connection: Connection,
  ): HeldExchange | undefined {
    const exchange = new Exchange(request, response, connection, {
      open: (member) => this.#pool.open(member, () => this.#reclaim(exchange)),
      stranger: () => this.#stranger(connection),
      known: (caller) => this.#options.known(connection, caller),
      over: () => this.#open.delete(exchange),
    })
    if (!exchange.begin()) return undefined
    this.#open.add(exchange)
    this.#stop ??= every(LOOK_EVERY, () => this.#look())
    return exchange
  }

  close(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  /** Each connection on its own: behind one address there may be many, and one of them honest. */
  #stranger(connection: Connection): Member {
    const known = this.#strangers.get(connection)
    if (known !== undefined) return known
    const member = {group: UNKNOWN, name: String(this.#connections++)}
    this.#strangers.set(connection, member)
    return member
  }

  #reclaim(exchange: Exchange): void {
    if (exchange.isStranger) this.#options.close(exchange.connection)
    else exchange.drop()
  }

  #look(): void {
    const now = performance.now()
    for (const exchange of this.#open) {
      if (!exchange.look(now, this.#options.stallMilliseconds)) this.#reclaim(exchange)
    }
    if (this.#open.size === 0) this.close()
  }
}

export interface HeldExchange extends HeldRequest {
  /** Counts a response until it is read. False: there is no room for it. */
  take(bytes: number): boolean
}

interface Place {
  open(member: Member): Holding
  stranger(): Member
  known(caller: Member): void
  over(): void
}

class Exchange implements HeldExchange {
  readonly connection: Connection
  readonly #request: HttpRequest
  readonly #response: HttpResponse
  readonly #place: Place
  #member: Member
  #holding: Holding
  #bytes = 0
  #unread = 0
  #isElsewhere = false
  /** Since when the whole response waits to be read. */
  #ended: number | undefined

  constructor(request: HttpRequest, response: HttpResponse, connection: Connection, place: Place) {
    this.#request = request
    this.#response = response
    this.connection = connection
    this.#place = place
    this.#member = connection.caller ?? place.stranger()
    this.#holding = place.open(this.#member)
  }

  get bytes(): number {
    return this.#bytes
  }

  get isStranger(): boolean {
    return this.#member.group === UNKNOWN
  }

  begin(): boolean {
    if (!this.take(EXCHANGE + headerBytes(this.#request))) {
      this.#holding.release()
      return false
    }
    const end = () => this.#end()
    // A response that waits behind another one on its connection does not hear of the connection's end.
    if ('stream' in this.#request) this.#response.once('close', end)
    else this.#response.once('close', () => this.#endHttp1(end))
    return true
  }

  take(bytes: number): boolean {
    if (this.#isElsewhere) return true
    if (!this.#holding.take(bytes)) return false
    this.#bytes += bytes
    return true
  }

  belongsTo(user: UserInfo): void {
    const member = memberOf(user)
    if (member === undefined || this.#isElsewhere) return
    const {group, name} = this.#member
    if (member.group === group && member.name === name) return
    const holding = this.#place.open(member)
    if (!holding.take(this.#bytes)) {
      holding.release()
      throw tooManyRequests(1)
    }
    this.#holding.release()
    this.#holding = holding
    this.#member = member
    this.#place.known(member)
  }

  release(): void {
    this.#isElsewhere = true
    this.#holding.release()
  }

  drop(): void {
    if ('stream' in this.#request) this.#response.destroy()
    else this.connection.raw.destroy()
    this.#end()
  }

  /** False if it must not go on. */
  look(now: number, stallMilliseconds: number): boolean {
    if (this.#isGone()) {
      this.#end()
      return true
    }
    if (this.#response.writableEnded) {
      this.#resetUnread()
      // It may wait behind another response, which its caller reads.
      if (isQueued(this.#response)) this.#ended = now
      this.#ended ??= now
      if (now - this.#ended >= stallMilliseconds) {
        this.drop()
        return true
      }
    }
    return this.#countUnread()
  }

  #isGone(): boolean {
    if ('stream' in this.#request) return this.#request.stream.destroyed
    return this.#request.socket.destroyed
  }

  /** The body of a request that was refused, or that nobody has begun to read. */
  #countUnread(): boolean {
    const {readableLength} = this.#request
    const unread = 'stream' in this.#request ? this.#request.stream.readableLength : 0
    const more = readableLength + unread - this.#unread
    if (more <= 0) return true
    // Nothing reads the body of a watch.
    if (this.#isElsewhere || !this.take(more)) return false
    this.#unread += more
    return true
  }

  /** As Go's server: once the whole response is sent, the rest of a body is of no use. */
  #resetUnread(): void {
    if (!('stream' in this.#request)) return
    const {stream} = this.#request
    const {localClose, remoteClose} = stream.state
    if (localClose === 1 && remoteClose === 0) stream.close()
  }

  #endHttp1(end: () => void): void {
    const request = this.#request as IncomingMessage
    if (request.complete || request.destroyed) end()
    else request.once('end', end).once('close', end)
  }

  #end(): void {
    this.#holding.release()
    this.#place.over()
  }
}

/** Waits behind the response to an earlier request on its HTTP/1.1 connection. */
export const isQueued = (to: HttpResponse): boolean =>
  !('stream' in to) && to.socket === null && !to.req.socket.destroyed

function headerBytes({rawHeaders, url = ''}: HttpRequest): number {
  let bytes = url.length + (rawHeaders.length / 2) * HEADER
  for (const text of rawHeaders) bytes += text.length
  return bytes
}

function memberOf(user: UserInfo): Member | undefined {
  if (isAnonymous(user)) return undefined
  return {group: isMaster(user) ? MASTERS : callerGroup(user), name: user.username}
}
