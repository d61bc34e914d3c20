import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {Secret} from '../../api/core.ts'
import {readTokenSecret} from '../../bootstrap/read-token-secret.ts'
import {TOKEN_SECRET_TYPE} from '../../bootstrap/token-secret.ts'
import {stateOf} from '../../csr/conditions.ts'
import {isWellKnownSigner} from '../../csr/signers.ts'
import type {Clock} from '../../runtime.ts'
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

/** Counts bootstrap tokens by whether they expire. */
export class TokenMetrics {
  /** When each expires, in milliseconds; Infinity for never. */
  readonly #ends = new Map<string, number>()
  readonly #clock: Clock

  constructor(registry: MetricsRegistry, clock: Clock) {
    this.#clock = clock
    registry.measured(
      {
        name: 'trustadm_bootstrap_tokens',
        help: 'Stored bootstrap tokens: those that will expire, that never do (permanent), and that have expired',
        labels: ['state'],
      },
      'gauge',
      () => {
        const counts = {expiring: 0, permanent: 0, expired: 0}
        const now = clock.now().getTime()
        for (const end of this.#ends.values()) counts[stateAt(end, now)] += 1
        return Object.entries(counts).map(([state, value]) => ({labels: [state], value}))
      },
    )
  }

  /** A Secret of kube-system was created or changed. */
  set(name: string, secret: Secret): void {
    if (secret.type !== TOKEN_SECRET_TYPE) return
    const {info} = readTokenSecret(secret, this.#clock.now())
    if (info) this.#ends.set(name, info.expires?.getTime() ?? Infinity)
    else this.#ends.delete(name)
  }

  delete(name: string): void {
    this.#ends.delete(name)
  }
}

function stateAt(end: number, now: number): 'expired' | 'expiring' | 'permanent' {
  if (end === Infinity) return 'permanent'
  return end <= now ? 'expired' : 'expiring'
}
