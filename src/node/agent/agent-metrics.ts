import type {Clock} from '../../runtime.ts'
import {MetricsRegistry, type Histogram} from '../../server/metrics/registry.ts'
import type {CertificateManager} from '../certificate-manager/certificate-manager.ts'
import type {AgentRecord} from './agent-state.ts'

interface Watched {
  client: CertificateManager
  serving: CertificateManager | undefined
  record: AgentRecord
}

const HOUR = 3600
const DAY = 24 * HOUR
/** The kubelet's: from a minute to four years. */
const AGES = [
  60,
  HOUR,
  4 * HOUR,
  DAY,
  7 * DAY,
  30 * DAY,
  90 * DAY,
  180 * DAY,
  360 * DAY,
  1440 * DAY,
]

const single = (value: number) => [{labels: [], value}]

/** What an agent measures, under the kubelet's names where it has them, so that the same alerts work. */
export class AgentMetrics {
  readonly #registry = new MetricsRegistry()
  readonly #clock: Clock
  readonly #ages: Record<'client' | 'serving', Histogram>

  constructor(clock: Clock) {
    this.#clock = clock
    const help = 'How many seconds the previous certificate lived before it was replaced.'
    const ages = (name: string) => this.#registry.histogram({name, help, buckets: AGES})
    this.#ages = {
      client: ages('trustadm_node_client_rotation_seconds'),
      serving: ages('kubelet_certificate_manager_server_rotation_seconds'),
    }
  }

  rotated(kind: 'client' | 'serving', age: number): void {
    this.#ages[kind].observe([], age)
  }

  watch({client, serving, record}: Watched): void {
    this.#gauge(
      'kubelet_certificate_manager_client_ttl_seconds',
      'Seconds until the client certificate expires; negative once it has.',
      () => this.#secondsLeft(client),
    )
    this.#gauge(
      'kubelet_certificate_manager_server_ttl_seconds',
      'Seconds until the serving certificate expires; negative once it has, +Inf if there is none.',
      () => this.#secondsLeft(serving),
    )
    this.#counter('kubelet_certificate_manager_client_expiration_renew_errors', client)
    this.#counter('kubelet_server_expiration_renew_errors', serving)
    this.#gauge(
      'trustadm_node_client_renewal_deadline_seconds',
      'When the client certificate is due to be renewed, in seconds since 1970.',
      () => (client.deadline?.getTime() ?? Infinity) / 1000,
    )
    this.#registry.measured(
      {
        name: 'trustadm_node_server_healthy',
        help: 'Whether a healthy API server answered the last attempt to renew the client certificate.',
      },
      'gauge',
      () => (client.isServerHealthy === undefined ? [] : single(Number(client.isServerHealthy))),
    )
    this.#gauge(
      'trustadm_node_cluster_info_age_seconds',
      'Seconds since cluster-info was last read; +Inf if it never was.',
      () => {
        const {readAt} = record.state.clusterInfo
        if (readAt === undefined) return Infinity
        return (this.#clock.now().getTime() - new Date(readAt).getTime()) / 1000
      },
    )
  }

  text(): string {
    return this.#registry.text()
  }

  #secondsLeft(manager: CertificateManager | undefined): number {
    const end = manager?.current?.certificate.notAfter.getTime() ?? Infinity
    return (end - this.#clock.now().getTime()) / 1000
  }

  #gauge(name: string, help: string, value: () => number): void {
    this.#registry.measured({name, help}, 'gauge', () => single(value()))
  }

  #counter(name: string, manager: CertificateManager | undefined): void {
    const help = 'How many attempts to renew the certificate have failed.'
    this.#registry.measured({name, help}, 'counter', () => single(manager?.failures ?? 0))
  }
}
