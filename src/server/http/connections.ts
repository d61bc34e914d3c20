import type {ServerHttp2Session} from 'node:http2'
import type {TLSSocket} from 'node:tls'

/** What the server has open. At the limit the connection that has been idle for longest makes room for a new one. */
export class Connections {
  readonly #limit: number
  readonly #sockets = new Map<TLSSocket, {active: number}>()
  readonly #sessions = new Set<ServerHttp2Session>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get open(): number {
    return this.#sockets.size
  }

  add(socket: TLSSocket): void {
    if (this.#sockets.size >= this.#limit) this.#dropIdle()
    this.#sockets.set(socket, {active: 0})
    socket.once('close', () => this.#sockets.delete(socket))
  }

  addSession(session: ServerHttp2Session): void {
    this.#sessions.add(session)
    session.once('close', () => this.#sessions.delete(session))
  }

  /** Counts a request on its connection; the answer ends the count. */
  begin(socket: TLSSocket): () => void {
    const state = this.#sockets.get(socket)
    if (state === undefined) return () => undefined
    state.active++
    return () => {
      state.active--
      // Moved to the end: a Map keeps the order of insertion, so the first idle one has been idle for longest.
      if (this.#sockets.delete(socket) && !socket.destroyed) this.#sockets.set(socket, state)
    }
  }

  /** No new requests on what is open: HTTP/2 is told so, idle HTTP/1.1 connections are closed. */
  drain(): void {
    for (const session of this.#sessions) session.close()
    for (const [socket, {active}] of this.#sockets) if (active === 0) socket.end()
  }

  destroyAll(): void {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#sockets.keys()) socket.destroy()
  }

  #dropIdle(): void {
    for (const [socket, {active}] of this.#sockets) {
      if (active > 0) continue
      socket.destroy()
      this.#sockets.delete(socket)
      return
    }
  }
}
