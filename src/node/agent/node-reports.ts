import type {ApiClient} from '../../client/api-client.ts'
import {Backoff} from '../../client/backoff.ts'
import {authoritiesOf, type TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {parseBundle} from '../../pki/bundle.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {type Pin, pinOf} from '../../pki/pins.ts'
import type {SubjectNames} from '../../pki/subject-names.ts'
import type {Clock} from '../../runtime.ts'
import type {NodeConnection} from '../certificate-manager/connection.ts'
import type {Pair} from '../certificate-manager/pair.ts'
import {kubeletAuthorities} from '../cluster-info-store.ts'
import {askedWait, Wait} from '../failures.ts'
import {
  formatTrustReport,
  reportedCertificate,
  TRUST_REPORT,
  type TrustReport,
} from '../trust-report.ts'
import {refreshAfter} from './cluster-trust.ts'
import type {Duty} from './duties.ts'
import {servingNames} from './serving-names.ts'

interface Held {
  info: TrustedClusterInfo
  client: Pair
  serving: Pair | undefined
  lastRenewal: string | undefined
}

const pinsIn = (certificates: readonly Certificate[]): Pin[] => [
  ...new Set(certificates.map(pinOf)),
]

export function trustReport({info, client, serving, lastRenewal}: Held): string {
  const callers = info.issuers?.kubeletClientCa === undefined ? undefined : kubeletAuthorities(info)
  const report: TrustReport = {
    trusts: pinsIn(authoritiesOf(info)),
    ...(callers !== undefined && {kubeletClients: pinsIn(parseBundle(callers))}),
    client: reportedCertificate(client.certificate),
    ...(serving && {serving: reportedCertificate(serving.certificate)}),
    ...(lastRenewal !== undefined && {lastRenewal}),
  }
  return formatTrustReport(report)
}

interface NodeReportsOptions {
  nodeName: string
  connection: Pick<NodeConnection, 'use'>
  /** The report as it should be; undefined while there is nothing to report. */
  report: () => string | undefined
  clock: Clock
  random: () => number
}

const BACKOFF = {base: 2000, max: 300_000}

/**
 * What the agent exchanges with its own Node: it reports its trust there, and reads the addresses to serve under. It looks at the Node
 * again every 5 to 10 minutes: a report is lost with a Node that is deleted and registered again, and with a store that is restored.
 */
export class NodeReports {
  readonly #options: NodeReportsOptions
  readonly #reportBackoff: Backoff
  readonly #namesBackoff: Backoff
  /** After a failure. */
  readonly #reportWait: Wait
  readonly #namesWait: Wait
  /** Until the Node is read again, whatever for. */
  readonly #rest: Wait
  /** What the Node had when it was last read. */
  #reported: string | undefined
  #names: SubjectNames | undefined

  constructor(options: NodeReportsOptions) {
    this.#options = options
    this.#reportBackoff = new Backoff({...BACKOFF, random: options.random})
    this.#namesBackoff = new Backoff({...BACKOFF, random: options.random})
    this.#reportWait = new Wait(options.clock)
    this.#namesWait = new Wait(options.clock)
    this.#rest = new Wait(options.clock)
  }

  /** The names and addresses of the Node, once they are known. */
  get names(): SubjectNames | undefined {
    return this.#names
  }

  /** Also does not wait any longer after a failure. */
  lookNow(): void {
    this.#reportWait.end()
    this.#namesWait.end()
    this.#rest.end()
  }

  /** After a connection was lost: the server may come back with another store. */
  lookSoon(): void {
    this.#rest.end()
  }

  get reportDuty(): Duty {
    const {report} = this.#options
    return {
      name: "reporting on this machine's Node",
      nextAt: () => {
        const text = report()
        if (text === undefined) return undefined
        const failed = this.#reportWait.until
        return text === this.#reported ? latest(failed, this.#rest.until) : failed
      },
      work: (signal) => this.#report(signal),
    }
  }

  get namesDuty(): Duty {
    return {
      name: "reading the addresses of this machine's Node",
      nextAt: () => latest(this.#namesWait.until, this.#rest.until),
      work: (signal) => this.#readNames(signal),
    }
  }

  async #report(signal: AbortSignal): Promise<void> {
    const {nodeName, connection, report} = this.#options
    const text = report()
    if (text === undefined) return
    try {
      await connection.use(async (client) => {
        if ((await this.#read(client, signal)) === text) return
        const patch = {metadata: {annotations: {[TRUST_REPORT]: text}}}
        await client.nodes.patch(nodeName, patch, {type: 'merge', signal})
      })
    } catch (error) {
      this.#rest.end()
      this.#reportWait.start(Math.max(this.#reportBackoff.next(), askedWait(error)))
      throw error
    }
    this.#reported = text
    this.#reportBackoff.reset()
    this.#reportWait.end()
  }

  async #readNames(signal: AbortSignal): Promise<void> {
    try {
      await this.#options.connection.use((client) => this.#read(client, signal))
    } catch (error) {
      this.#rest.end()
      this.#namesWait.start(Math.max(this.#namesBackoff.next(), askedWait(error)))
      throw error
    }
    this.#namesBackoff.reset()
    this.#namesWait.end()
  }

  /** Returns the report that the Node has. */
  async #read({nodes}: ApiClient, signal: AbortSignal): Promise<string | undefined> {
    const {nodeName, random} = this.#options
    // First: what is read once need not be read for the other duty, too.
    this.#rest.start(refreshAfter(random))
    const node = await nodes.get(nodeName, {signal})
    this.#names = servingNames(node)
    this.#reported = node.metadata.annotations?.[TRUST_REPORT]
    return this.#reported
  }
}

const latest = (one: Date, other: Date): Date => (one > other ? one : other)
