import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {stateOf} from '../../csr/conditions.ts'
import {isWellKnownSigner} from '../../csr/signers.ts'
import type {Counter, MetricsRegistry, Sample} from './registry.ts'

interface Counted {
  signer: string
  state: string
}

const OTHER = 'other'

/**
 * Counts certificate requests by signer and state, and what was decided about them. Anybody may invent a signer: those that are not
 * known share one label, so that callers cannot create new series.
 */
export class CertificateRequestMetrics {
  readonly #counted = new Map<string, Counted>()
  readonly #isSigner: (name: string) => boolean
  readonly #decisions: Counter

  constructor(registry: MetricsRegistry, isSigner: (name: string) => boolean) {
    this.#isSigner = isSigner
    registry.measured(
      {
        name: 'trustadm_certificate_requests',
        help: 'Stored certificate requests, by signer and state',
        labels: ['signer', 'state'],
      },
      'gauge',
      () => this.#samples(),
    )
    this.#decisions = registry.counter({
      name: 'trustadm_certificate_request_decisions_total',
      help: 'Certificate requests that were approved, denied, issued, or refused by their signer (failed)',
      labels: ['signer', 'decision'],
    })
  }

  /** A request was created or changed. What was decided before the first call is not counted. */
  set(name: string, csr: CertificateSigningRequest): void {
    const {signerName} = csr.spec
    const isKnown = isWellKnownSigner(signerName) || this.#isSigner(signerName)
    const signer = isKnown ? signerName : OTHER
    const state = stateOf(csr).toLowerCase()
    const before = this.#counted.get(name)
    this.#counted.set(name, {signer, state})
    if (before !== undefined && before.state !== state) this.#decisions.add([signer, state])
  }

  delete(name: string): void {
    this.#counted.delete(name)
  }

  #samples(): Iterable<Sample> {
    const counts = new Map<string, Sample>()
    for (const {signer, state} of this.#counted.values()) {
      const key = `${signer} ${state}`
      const sample = counts.get(key) ?? {labels: [signer, state], value: 0}
      sample.value += 1
      counts.set(key, sample)
    }
    return counts.values()
  }
}
