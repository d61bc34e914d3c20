import {Pool} from 'undici'
import {EtcdConnector} from './tls-files.ts'
import type {EtcdSettings} from './settings.ts'

const CONNECT_TIMEOUT = 2_000
/** Requests to one member at the same time; the others wait. */
const CONNECTIONS = 64
/** How long a member that failed is asked only if all others fail too. */
const AVOIDED_FOR = 5_000

/** One member of the cluster. */
export class Endpoint {
  readonly server: string
  readonly requests: Pool
  /** Each watch keeps a connection, and must not block short requests. */
  readonly streams: Pool
  avoidedUntil = -Infinity

  constructor(server: string, {connect}: EtcdConnector) {
    this.server = server
    const clocks = {headersTimeout: 0, bodyTimeout: 0}
    this.requests = new Pool(server, {connect, connections: CONNECTIONS, ...clocks})
    this.streams = new Pool(server, {connect, ...clocks})
  }

  async destroy(): Promise<void> {
    await Promise.all([this.requests.destroy(), this.streams.destroy()])
  }
}

/** The members in the order in which they are asked: the one in use, then those that did not fail lately. */
export class Endpoints {
  readonly #all: Endpoint[]
  #current: number

  constructor(settings: EtcdSettings, tell: (line: string) => void, random = Math.random) {
    const connector = new EtcdConnector(settings, CONNECT_TIMEOUT, tell)
    this.#all = settings.servers.map((server) => new Endpoint(server, connector))
    // Several servers do not all use the first member.
    this.#current = Math.floor(random() * this.#all.length)
  }

  get all(): readonly Endpoint[] {
    return this.#all
  }

  get count(): number {
    return this.#all.length
  }

  pick(): Endpoint {
    const ordered = this.#all.map((_, index) => this.#at(this.#current + index))
    const now = performance.now()
    const best =
      ordered.find(({avoidedUntil}) => avoidedUntil <= now) ??
      ordered.reduce((left, right) => (right.avoidedUntil < left.avoidedUntil ? right : left))
    this.#current = this.#all.indexOf(best)
    return best
  }

  avoid(endpoint: Endpoint): void {
    endpoint.avoidedUntil = performance.now() + AVOIDED_FOR
  }

  async destroy(): Promise<void> {
    await Promise.all(this.#all.map((endpoint) => endpoint.destroy()))
  }

  #at(index: number): Endpoint {
    const endpoint = this.#all[index % this.#all.length]
    if (!endpoint) throw new Error('an etcd cluster has at least one server')
    return endpoint
  }
}
