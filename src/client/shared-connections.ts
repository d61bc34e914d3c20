import type {Pool} from 'undici'
import type {ServerAccess} from './server-access.ts'

/**
 * Connections that several clients use one after the other: each sends its credentials with its requests, and a handshake is saved.
 * Only clients that verify the server in the same way share a connection. One with a client certificate belongs to its user alone.
 */
export class SharedConnections {
  readonly #pools = new Map<string, Pool>()

  /** The connections for this access; undefined if it must have its own. */
  poolFor(access: ServerAccess, open: () => Pool): Pool | undefined {
    const {server, ca, insecure = false, tlsServerName, clientCertificate, proxyUrl} = access
    if (insecure || clientCertificate) return undefined
    const key = JSON.stringify([new URL(server).origin, ca, tlsServerName, proxyUrl])
    const pool = this.#pools.get(key) ?? open()
    this.#pools.set(key, pool)
    return pool
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()))
    this.#pools.clear()
  }
}
