import type {Pool} from 'undici'
import type {ServerAccess} from './server-access.ts'
import type {UnprovenConnection} from './unproven-connection.ts'

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
