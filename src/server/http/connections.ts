import type {ServerHttp2Session} from 'node:http2'
import type {Socket} from 'node:net'
import type {TLSSocket} from 'node:tls'
import {readCaller} from '../../pki/client-identity.ts'
import type {Member} from '../limits/shared-pool.ts'
import {addressKey, TokenBuckets} from '../limits/token-buckets.ts'
import type {ConnectionLimit} from '../metrics/connection-metrics.ts'

const KIB = 1024
/** How many bytes an address may send each second, and at once. */
const BYTES = {perSecond: 4 * KIB, burst: 256 * KIB, keys: 10_000}
/** What a client sends that does not trust this server and closes: too little to contain a certificate. */
const HELLO = KIB
/** More than any chain of a cluster's CA takes. */
const USUAL_CHAIN = 8 * KIB

/**
 * What handshakes may cost an address. OpenSSL verifies every signature of a caller's chain before our code sees it, on the
 * server's own thread. 80 KiB of keys made for this purpose take half a second. So bytes that could contain such keys are
 * charged to the address, and an address that has used up its budget is refused for a while. Usual handshakes are free.
 */
export class HandshakeBudget {
  readonly #bytes = new TokenBuckets(BYTES)

  allows(address: string): boolean {
    return !this.#bytes.isSpent(addressKey(address), now())
  }

  /** A connection has ended before its handshake was done. */
  failed(address: string, bytesRead: number): void {
    this.#charge(address, bytesRead - HELLO)
  }

  done(address: string, bytesRead: number, presented: readonly Uint8Array[]): void {
    if (presented.length === 0) return
    const size = presented.reduce((sum, {length}) => sum + length, 0)
    const isUsual = typeof readCaller(presented) !== 'string'
    this.#charge(address, isUsual ? size - USUAL_CHAIN : bytesRead)
  }

  #charge(address: string, bytes: number): void {
    if (bytes > 0) this.#bytes.charge(addressKey(address), bytes, now())
  }
}

/** However few descriptors there are. */
const LEAST = 8

/** Keeps running when the machine's clock is set. */
const now = () => new Date(performance.now())

export interface Connection {
  raw: Socket
  /** The address that it counts for. */
  address: string
  /** Once the handshake is done. */
  tls?: TLSSocket
  /** HTTP/2: the session closes the socket once all responses are sent. */
  session?: ServerHttp2Session
  /** Requests in progress. */
  active: number
  /** Who last asked for something that it may do; a stranger's connection has none. */
  caller?: Member
}

/**
 * All open connections, including handshakes. At the limit an unused connection is closed for a new one: first those that
 * never sent a request, if there are many, then the one that has been idle longest. If all are in use, the address with most
 * connections loses its oldest: a watch can be resumed, and nobody is locked out. Connections of strangers go before those of
 * callers: behind one address there may be both.
 */
export class Connections {
  readonly #most: number
  #limit: number
  readonly #budget: HandshakeBudget
  readonly #onLimit: (what: ConnectionLimit) => void
  readonly #handshakes = new Map<string, Connection>()
  readonly #byTls = new WeakMap<TLSSocket, Connection>()
  // Sets keep the order of insertion, so the first of each is the oldest.
  readonly #fresh = new Set<Connection>()
  readonly #idle = new Set<Connection>()
  readonly #idleStrangers = new Set<Connection>()
  readonly #busy = new ByAddress<Connection>()
  readonly #busyStrangers = new ByAddress<Connection>()

  constructor(
    limit: number,
    budget: HandshakeBudget,
    onLimit: (what: ConnectionLimit) => void = () => undefined,
  ) {
    this.#most = limit
    this.#limit = limit
    this.#budget = budget
    this.#onLimit = onLimit
  }

  get open(): number {
    const known = this.#idle.size + this.#busy.size
    return this.#fresh.size + this.#idleStrangers.size + this.#busyStrangers.size + known
  }

  /** A connection was accepted; its handshake follows. */
  add(raw: Socket): void {
    raw.on('error', () => undefined)
    const {remoteAddress = ''} = raw
    if (!this.#budget.allows(remoteAddress)) return this.#refuse(raw, 'refused-handshakes')
    if (this.open >= this.#limit && !this.#makeRoom()) {
      return this.#refuse(raw, 'refused-connections')
    }
    const connection: Connection = {raw, address: addressKey(remoteAddress), active: 0}
    const peer = peerOf(raw)
    this.#fresh.add(connection)
    this.#handshakes.set(peer, connection)
    raw.once('close', () => {
      this.#forget(connection)
      if (this.#handshakes.get(peer) === connection) this.#handshakes.delete(peer)
      if (connection.tls === undefined) this.#budget.failed(remoteAddress, raw.bytesRead)
    })
  }

  /** The handshake of a connection is done; these are the caller's certificates. */
  secure(socket: TLSSocket, presented: readonly Uint8Array[]): void {
    const peer = peerOf(socket)
    const connection = this.#handshakes.get(peer)
    this.#handshakes.delete(peer)
    if (connection === undefined) {
      socket.destroy()
      return
    }
    connection.tls = socket
    this.#budget.done(connection.raw.remoteAddress ?? '', connection.raw.bytesRead, presented)
    this.#byTls.set(socket, connection)
  }

  addSession(session: ServerHttp2Session, socket: TLSSocket): Connection | undefined {
    const connection = this.#byTls.get(socket)
    if (connection !== undefined) connection.session = session
    return connection
  }

  /** There may be so many more; below zero, so many that nobody uses are closed. A few stay, to ask what is wrong. */
  leave(spare: number): void {
    this.#limit = Math.min(this.#most, Math.max(LEAST, this.open + spare))
    for (const unused of [this.#fresh, this.#idleStrangers, this.#idle])
      for (const connection of unused) {
        if (this.open <= this.#limit) return
        this.#close(connection)
      }
  }

  of(socket: TLSSocket): Connection | undefined {
    return this.#byTls.get(socket)
  }

  /** Counts a request on its connection. The returned function ends the count. */
  begin(connection: Connection): () => void {
    connection.active++
    this.#place(connection)
    return () => {
      connection.active--
      if (connection.active === 0) this.#place(connection)
    }
  }

  /** The caller of a connection has proved who it is. */
  known(connection: Connection, caller: Member): void {
    const wasStranger = connection.caller === undefined
    connection.caller = caller
    if (wasStranger) this.#place(connection)
  }

  /** Closes a stranger's connection whose requests take most memory. */
  closeCostly({raw, session}: Connection): void {
    if (raw.destroyed) return
    this.#onLimit('closed-costly')
    session?.destroy()
    raw.destroy()
  }

  /** Accepts no new requests on open connections: HTTP/2 gets GOAWAY, connections without a request are closed. */
  drain(): void {
    for (const {raw, tls, session, active} of this.#all()) {
      if (session !== undefined) session.close()
      else if (tls === undefined) raw.destroy()
      else if (active === 0) tls.end()
    }
  }

  destroyAll(): void {
    for (const {raw, session} of this.#all()) {
      session?.destroy()
      raw.destroy()
    }
  }

  /** A copy, because closing a connection removes it. */
  #all(): Connection[] {
    return [
      ...this.#fresh,
      ...this.#idleStrangers,
      ...this.#idle,
      ...this.#busyStrangers,
      ...this.#busy,
    ]
  }

  #refuse(raw: Socket, why: ConnectionLimit): void {
    this.#onLimit(why)
    raw.destroy()
  }

  #makeRoom(): boolean {
    const victim = this.#victim()
    if (victim === undefined) return false
    this.#close(victim)
    return true
  }

  #close(victim: Connection): void {
    this.#onLimit(
      this.#fresh.has(victim) ? 'closed-unused' : victim.active > 0 ? 'closed-busy' : 'closed-idle',
    )
    this.#forget(victim)
    victim.raw.destroy()
  }

  #victim(): Connection | undefined {
    const [fresh] = this.#fresh
    const [idle] = this.#idle
    const [idleStranger] = this.#idleStrangers
    const many = this.#limit / 4
    if (this.#fresh.size > many) return fresh
    if (idleStranger !== undefined) return idleStranger
    const busyStranger = this.#busyStrangers.oldestOfMost()
    if (this.#busyStrangers.size > many) return busyStranger
    return idle ?? fresh ?? busyStranger ?? this.#busy.oldestOfMost()
  }

  /** Moves it to where it belongs, as the newest. */
  #place(connection: Connection): void {
    this.#forget(connection)
    const {active, caller, raw} = connection
    if (raw.destroyed) return
    if (active > 0) (caller === undefined ? this.#busyStrangers : this.#busy).add(connection)
    else (caller === undefined ? this.#idleStrangers : this.#idle).add(connection)
  }

  #forget(connection: Connection): void {
    this.#fresh.delete(connection)
    this.#idleStrangers.delete(connection)
    this.#idle.delete(connection)
    this.#busyStrangers.delete(connection)
    this.#busy.delete(connection)
  }
}

/** Identifies a connection: the same for the TCP socket and the TLS socket around it. */
const peerOf = ({remoteAddress, remotePort}: Socket) => `${remoteAddress ?? ''} ${remotePort ?? 0}`

/** A set of items by address, for each address in the order of arrival. */
export class ByAddress<Item extends {address: string}> {
  readonly #sets = new Map<string, Set<Item>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(item: Item): void {
    const own = this.#sets.get(item.address) ?? new Set()
    if (own.has(item)) return
    this.#sets.set(item.address, own.add(item))
    this.#size++
  }

  delete(item: Item): boolean {
    const own = this.#sets.get(item.address)
    if (own?.delete(item) !== true) return false
    if (own.size === 0) this.#sets.delete(item.address)
    this.#size--
    return true
  }

  /** The first item of the address that has most. */
  oldestOfMost(): Item | undefined {
    let most = new Set<Item>()
    for (const own of this.#sets.values()) if (own.size > most.size) most = own
    const [oldest] = most
    return oldest
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (const own of this.#sets.values()) yield* own
  }
}
