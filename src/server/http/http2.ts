import type {
  Http2SecureServer,
  Http2ServerRequest,
  Http2Session,
  ServerHttp2Session,
} from 'node:http2'
import type {TLSSocket} from 'node:tls'
import type {Connection, Connections} from './connections.ts'
import type {HttpLimits} from './http-limits.ts'
import {every} from '../../runtime.ts'

interface Peer {
  session: ServerHttp2Session
  socket: TLSSocket
  connection: Connection
  /** When it was last checked. */
  bytesRead: number
  /** For how long it has sent nothing, has had no request, and its session has been over. In milliseconds. */
  silence: number
  idle: number
  over: number
  /** Whether it was pinged. */
  isAsked: boolean
  /** Frames beyond the permitted rate. */
  overhead: number
}

const MAX_CHECK_INTERVAL = 1000

/**
 * The HTTP/2 side of a server. Node reports neither a failed write nor a session that nghttp2 has ended. It stops reading
 * from such a connection, so its end is never noticed. Therefore every connection is checked once a second: a silent one is
 * pinged (every client replies automatically) and closed if no reply comes.
 */
export class Http2 {
  readonly #connections: Connections
  readonly #limits: HttpLimits
  readonly #interval: number
  readonly #peers = new Map<Http2Session, Peer>()
  #stop: (() => void) | undefined

  constructor(server: Http2SecureServer, connections: Connections, limits: HttpLimits) {
    this.#connections = connections
    this.#limits = limits
    const {idleMilliseconds, silenceMilliseconds, answerMilliseconds} = limits
    const shortest = Math.min(idleMilliseconds, silenceMilliseconds, answerMilliseconds)
    this.#interval = Math.min(MAX_CHECK_INTERVAL, shortest / 4)
    let newest: TLSSocket | undefined
    server.prependListener('secureConnection', (socket: TLSSocket) => (newest = socket))
    // Emitted during the connection's own event, so the newest socket belongs to this session.
    server.on('session', (session) => {
      if (newest !== undefined) this.#add(session, newest)
    })
    server.on('sessionError', () => undefined)
    server.on('close', () => this.#stop?.())
  }

  /** A request exposes only a proxy of its socket. */
  socketOf({stream: {session}, socket}: Http2ServerRequest): TLSSocket {
    return (session && this.#peers.get(session)?.socket) ?? (socket as TLSSocket)
  }

  #add(session: ServerHttp2Session, socket: TLSSocket): void {
    session.on('error', () => undefined)
    const connection = this.#connections.addSession(session, socket)
    if (connection === undefined) return
    const {bytesRead} = socket
    const counters = {bytesRead, silence: 0, idle: 0, over: 0, overhead: 0}
    const peer: Peer = {session, socket, connection, isAsked: false, ...counters}
    this.#peers.set(session, peer)
    connection.raw.once('close', () => this.#peers.delete(session))
    const charge = () => {
      if (++peer.overhead > this.#limits.overheadFrames) end(peer)
    }
    session.on('ping', charge).on('remoteSettings', charge)
    // First, so that a stream counts that is refused as soon as it comes.
    session.prependListener('stream', (stream) => {
      peer.idle = 0
      stream.on('aborted', charge)
    })
    this.#stop ??= every(this.#interval, () => this.#check())
  }

  #check(): void {
    for (const peer of this.#peers.values()) this.#checkPeer(peer)
  }

  /** Time is counted in checks, not by the clock: a suspended process cannot receive anything. */
  #checkPeer(peer: Peer): void {
    const {session, socket, connection} = peer
    const {idleMilliseconds, silenceMilliseconds, answerMilliseconds} = this.#limits
    if (session.destroyed) {
      // After a regular end the last responses may still be in transit; after an error nothing is.
      if (!session.closed || peer.over >= answerMilliseconds) end(peer)
      peer.over += this.#interval
      return
    }
    const {bytesRead} = socket
    if (bytesRead !== peer.bytesRead) Object.assign(peer, {bytesRead, silence: 0, isAsked: false})
    const {overheadFramesPerSecond} = this.#limits
    peer.overhead = Math.max(0, peer.overhead - (overheadFramesPerSecond * this.#interval) / 1000)
    if (connection.active > 0) peer.idle = 0
    const isGone = peer.silence >= silenceMilliseconds + answerMilliseconds
    if (isGone || peer.idle >= idleMilliseconds + answerMilliseconds) end(peer)
    else if (peer.idle >= idleMilliseconds) session.close()
    else if (peer.silence >= silenceMilliseconds && !peer.isAsked) {
      peer.isAsked = true
      session.ping(() => undefined)
    }
    peer.silence += this.#interval
    peer.idle += this.#interval
  }
}

/** Destroying only the session would wait for a write that never ends. */
function end({session, connection}: Peer): void {
  session.destroy()
  connection.raw.destroy()
}
