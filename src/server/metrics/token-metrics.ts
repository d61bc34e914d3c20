import type {Secret} from '../../api/core.ts'
import {readTokenSecret} from '../../bootstrap/read-token-secret.ts'
import {TOKEN_SECRET_TYPE} from '../../bootstrap/token-secret.ts'
import type {Clock} from '../../runtime.ts'
import type {MetricsRegistry} from './registry.ts'

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
