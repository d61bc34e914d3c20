import type {ApiClient} from '../../client/api-client.ts'
import {connectLive} from '../../client/connect.ts'
import type {ServerAccess} from '../../client/server-access.ts'
import {systemRoots} from '../../client/system-roots.ts'
import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {addressesOf} from '../../discovery/refresh.ts'
import type {Clock} from '../../runtime.ts'
import {Replaceable, type Live} from '../../trust/live.ts'
import {asShutOut, type Self, serverHealth} from '../failures.ts'
import type {Pair} from './pair.ts'
import type {ServerClock} from './server-clock.ts'

/** The clock by which certificates are judged; one that follows the server's is told what time that has. */
export type NodeClock = Clock & Partial<Pick<ServerClock, 'see'>>

/** The node's own connection to its cluster. It follows the node's certificate, and the CAs and addresses of the cluster. */
export class NodeConnection {
  readonly client: ApiClient
  readonly #access: Replaceable<ServerAccess>
  readonly #unfollow: () => void
  readonly #expiredAt: () => Date | undefined
  readonly #self: Self
  #info: TrustedClusterInfo

  /** Called when no healthy server has answered. */
  onLost: (() => void) | undefined

  private constructor(
    info: TrustedClusterInfo,
    access: ServerAccess,
    pair: Live<Pair | undefined>,
    self: Self,
    clock: NodeClock,
  ) {
    this.#info = info
    this.#expiredAt = () => {
      const {notAfter} = pair.current?.certificate ?? {}
      return notAfter && notAfter <= clock.now() ? notAfter : undefined
    }
    this.#self = self
    this.#access = new Replaceable(access)
    this.client = connectLive(this.#access, {
      retry: {attempts: 2},
      onServerTime: (time, elapsed) => clock.see?.(time, elapsed),
    })
    this.#unfollow = pair.subscribe((changed) => this.#change(certificateOf(changed)))
  }

  static async open(
    info: TrustedClusterInfo,
    pair: Live<Pair | undefined>,
    self: Self,
    clock: NodeClock,
  ): Promise<NodeConnection> {
    const access = {...(await clusterAccess(info)), ...certificateOf(pair.current)}
    return new NodeConnection(info, access, pair, self, clock)
  }

  get info(): TrustedClusterInfo {
    return this.#info
  }

  /** Uses what is known about the cluster now. */
  async follow(info: TrustedClusterInfo): Promise<void> {
    this.#info = info
    await this.#change(await clusterAccess(info))
  }

  /** Does the work with the client. If no healthy server answers, the next work tries another of its addresses. */
  async use<Result>(work: (client: ApiClient) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.client)
    } catch (error) {
      if (serverHealth(error) === false) {
        this.onLost?.()
        await this.#tryNextAddress()
      }
      throw asShutOut(error, this.#self, this.#expiredAt())
    }
  }

  async close(): Promise<void> {
    this.#unfollow()
    await this.client.close()
  }

  async #tryNextAddress(): Promise<void> {
    const addresses = addressesOf(this.#info)
    if (addresses.length === 1) return
    const next = (addresses.indexOf(this.#access.current.server) + 1) % addresses.length
    await this.#change({server: addresses[next] ?? this.#info.server})
  }

  async #change(changed: Partial<ServerAccess>): Promise<void> {
    await this.#access.replace({...this.#access.current, ...changed})
  }
}

const clusterAccess = async (info: TrustedClusterInfo): Promise<ServerAccess> => ({
  server: info.server,
  ca: info.ca ?? (await systemRoots()),
  tlsServerName: info.tlsServerName,
})

const certificateOf = (pair: Pair | undefined): Pick<ServerAccess, 'clientCertificate'> => ({
  clientCertificate: pair && {certificate: pair.certificatePem, key: pair.keyPem},
})
