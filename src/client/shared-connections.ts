import {TLSSocket} from 'node:tls'
import {type buildConnector, Pool} from 'undici'
import {chainOf, connectorFor} from './connector.ts'
import type {Environment} from './proxy-rules.ts'
import type {ServerAccess} from './server-access.ts'
import {proxyOf} from './tunnel.ts'

interface UnprovenOptions {
  timeout: number
  environment?: Environment | undefined
}

/**
 * A connection to a server whose CA is not known yet. Once the CA is known, the caller checks what the server presented, and the
 * connection counts as verified: that saves a handshake. Until then nothing secret may be sent. Whatever it opens after that is
 * verified by TLS itself.
 */
export class UnprovenConnection {
  readonly pool: Pool
  readonly #options: UnprovenOptions
  #connect: buildConnector.connector
  readonly #presented: Buffer[][] = []

  constructor(server: string, options: UnprovenOptions) {
    this.#options = options
    this.#connect = this.#connectorFor({server, insecure: true})
    this.pool = new Pool(new URL(server).origin, {
      connect: (target, callback) => this.#connect(target, callback),
      connections: 16,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  /** The certificates that the server presented, as DER, its own first; undefined unless it is the only connection so far. */
  get presented(): readonly Buffer[] | undefined {
    return this.#presented.length === 1 ? this.#presented[0] : undefined
  }

  /** From now on, new connections are verified this way. */
  verifyBy(access: ServerAccess): void {
    this.#connect = this.#connectorFor(access)
  }

  async close(): Promise<void> {
    await this.pool.destroy()
  }

  #connectorFor(access: ServerAccess): buildConnector.connector {
    const {timeout, environment = process.env} = this.#options
    const connect = connectorFor(access, {proxy: proxyOf(access, environment), timeout})
    return (target, callback) =>
      connect(target, (...result) => {
        const [, socket] = result
        if (socket instanceof TLSSocket)
          this.#presented.push(chainOf(socket.getPeerCertificate(true)))
        callback(...result)
      })
  }
}

/**
 * Connections that several clients use one after the other: each sends its credentials with its requests, and a handshake is saved.
 * Only clients that verify the server in the same way share a connection. One with a client certificate belongs to its user alone.
 */
export class SharedConnections {
  readonly #pools = new Map<string, Pool>()

  /** The connections for this access; undefined if it must have its own. */
  poolFor(access: ServerAccess, open: () => Pool): Pool | undefined {
    if (access.insecure || access.clientCertificate) return undefined
    const key = keyOf(access)
    const pool = this.#pools.get(key) ?? open()
    this.#pools.set(key, pool)
    return pool
  }

  /** Takes over a connection to a server that is now known to be the one that this access would verify. */
  async adopt(connection: UnprovenConnection, access: ServerAccess): Promise<void> {
    const key = keyOf(access)
    if (this.#pools.has(key)) return await connection.close()
    connection.verifyBy(access)
    this.#pools.set(key, connection.pool)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()))
    this.#pools.clear()
  }
}

const keyOf = ({server, ca, tlsServerName, proxyUrl}: ServerAccess): string =>
  JSON.stringify([new URL(server).origin, ca, tlsServerName, proxyUrl])
