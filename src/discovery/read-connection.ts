import type {ClusterInfo} from '../bootstrap/cluster-info.ts'
import {hostOf} from '../client/proxy-rules.ts'
import type {SharedConnections} from '../client/shared-connections.ts'
import type {UnprovenConnection} from '../client/unproven-connection.ts'
import type {Certificate} from '../pki/certificate.ts'
import {problemOfServer} from '../pki/server-identity.ts'
import {readPresented, verifyChain} from '../pki/verify.ts'
import {authoritiesOf} from './cluster-info.ts'

interface ChainCheck {
  host: string
  authorities: readonly Certificate[]
  now: Date
}

/**
 * Whether TLS with these CAs would have accepted what a server presented. Stricter than OpenSSL in places: what it refuses may
 * still be accepted by a verified connection.
 */
export function isVouchedFor(
  presented: readonly Buffer[],
  {host, authorities, now}: ChainCheck,
): boolean {
  const [leaf, ...intermediates] = readPresented(presented)
  // An unreadable certificate is left out of the list: the first one must be the server's own.
  if (leaf === undefined || !presented[0]?.equals(leaf.der)) return false
  const verdict = verifyChain(leaf, {intermediates, roots: authorities, usage: 'server auth', now})
  if (!verdict.ok) return false
  return (
    problemOfServer(
      verdict.chain.map(({der}) => der),
      host,
    ) === undefined
  )
}

/** The connection of an unverified read, which may turn out to be one to the cluster. */
export class ReadConnection {
  readonly #connection: UnprovenConnection
  readonly #server: string
  readonly #shared: SharedConnections | undefined
  #isAdopted = false

  constructor(
    connection: UnprovenConnection,
    server: string,
    shared: SharedConnections | undefined,
  ) {
    this.#connection = connection
    this.#server = server
    this.#shared = shared
  }

  /**
   * Leaves the connection to those who verify the server with the CAs of cluster-info, if it has presented a certificate of these
   * CAs: that saves a handshake. If not, they connect again, and TLS decides.
   */
  async offerTo(info: Pick<ClusterInfo, 'ca' | 'tlsServerName'>, now: Date): Promise<void> {
    const {ca, tlsServerName} = info
    const {presented} = this.#connection
    // The server was asked by its address: for another name it may present another certificate.
    if (!this.#shared || !presented || ca === undefined || tlsServerName !== undefined) return
    const host = hostOf(new URL(this.#server))
    if (!isVouchedFor(presented, {host, authorities: authoritiesOf(info), now})) return
    await this.#shared.adopt(this.#connection, {server: this.#server, ca})
    this.#isAdopted = true
  }

  /** Unless it was left to others. */
  async close(): Promise<void> {
    if (!this.#isAdopted) await this.#connection.close()
  }
}
