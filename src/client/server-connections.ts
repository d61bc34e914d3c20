import {Pool} from 'undici'
import {connectorFor} from './connector.ts'
import type {Environment} from './proxy-rules.ts'
import {withoutTrailingSlashes, type ServerAccess} from './server-access.ts'
import type {SharedConnections} from './shared-connections.ts'
import {proxyOf} from './tunnel.ts'

export interface ConnectionOptions {
  connectTimeout?: number | undefined
  /** The environment with the proxy variables. */
  environment?: Environment | undefined
  /** Watches share the connections of requests: for a caller that does one thing after the other, it saves a handshake. */
  oneAtATime?: boolean | undefined
  /** Connections that other clients have left open, or will use. */
  shared?: SharedConnections | undefined
  /** A connection of the caller, who closes it. */
  pool?: Pool | undefined
}

/**
 * The connections to one server as one user. A new certificate or a new CA gets connections of its own: not even a TLS session is
 * carried over, because a resumed session would still be the one of the old certificate.
 */
export class ServerConnections {
  readonly access: ServerAccess
  readonly origin: string
  readonly basePath: string
  readonly requests: Pool
  /** Each watch occupies a connection, and must not block short requests. */
  readonly streams: Pool
  readonly #own: Pool[]
  /** Ends one stream that is open. */
  readonly #endings = new Set<() => void>()
  #isRetired = false

  constructor(
    access: ServerAccess,
    options: ConnectionOptions,
    onServer: (certificate: Uint8Array) => void,
  ) {
    const {connectTimeout = 10_000, environment = process.env, oneAtATime = false} = options
    const server = new URL(access.server)
    const connect = connectorFor(access, {
      proxy: proxyOf(access, environment),
      timeout: connectTimeout,
      onServer,
    })
    this.access = access
    this.origin = server.origin
    this.basePath = withoutTrailingSlashes(server.pathname)
    // One deadline for the whole request: a server that sends single bytes resets undici's own timers.
    const clocks = {headersTimeout: 0, bodyTimeout: 0}
    const open = () => new Pool(server.origin, {connect, connections: 16, ...clocks})
    const shared = options.pool ?? options.shared?.poolFor(access, open)
    this.requests = shared ?? open()
    this.streams = oneAtATime ? this.requests : new Pool(server.origin, {connect, ...clocks})
    this.#own = [...new Set([this.requests, this.streams])].filter((pool) => pool !== shared)
  }

  /** Calls `end` when these connections are retired, unless the returned function is called before. */
  onRetired(end: () => void): () => void {
    if (this.#isRetired) end()
    else this.#endings.add(end)
    return () => this.#endings.delete(end)
  }

  /** Lets requests in flight finish, ends streams, and closes the connections. */
  async retire(): Promise<void> {
    this.#isRetired = true
    for (const end of this.#endings) end()
    await Promise.all(this.#own.map((pool) => pool.close()))
  }

  async destroy(): Promise<void> {
    await Promise.all(this.#own.map((pool) => pool.destroy()))
  }
}
