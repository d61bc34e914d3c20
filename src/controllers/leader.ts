import type {Lease} from '../api/coordination.ts'
import {formatMicroTime} from '../bootstrap/timestamp.ts'
import type {ApiClient} from '../client/api-client.ts'
import {Cancellation, untilAborted} from '../client/cancellation.ts'
import {hasCode} from '../errors.ts'
import {sleep, type Clock} from '../runtime.ts'
import {noOwnNamespace, OWN_NAMESPACE} from '../trust/own-namespace.ts'

export interface LeaderOptions {
  leases: ApiClient['leases']
  /** The name of the Lease in trustadm-system. */
  name: string
  /** Who leads: one process of one machine. */
  identity: string
  clock: Clock
  times?: LeaderTimes | undefined
  /** What those who lead tell each other, in annotations of the Lease. */
  shared?: SharedNotes | undefined
  onError: (error: unknown) => void
}

type Annotations = Record<string, string>

export interface SharedNotes {
  /** Called each time the Lease is read, also while another leads. */
  load(annotations: Annotations | undefined): void
  /** What to write with the next renewal: nothing is written for it alone. */
  save(): Annotations
}

export interface LeaderTimes {
  /** How long others wait for a silent leader. */
  lease: number
  /** How long a leader tries to renew before it gives up: less than the others wait. */
  renewal: number
  /** Time between two attempts. */
  retry: number
}

/** client-go's defaults. */
const DEFAULT_TIMES: LeaderTimes = {lease: 15_000, renewal: 10_000, retry: 2000}

type Attempt = 'leads' | 'another leads' | 'lost a race'

/**
 * Leader election by a Lease, as in client-go: it does not trust other machines' clocks, only how long the Lease was not
 * renewed.
 */
export class Leader {
  readonly #options: LeaderOptions
  readonly #times: LeaderTimes
  #seen: {version: string | undefined; at: number} | undefined
  /** When the lease of a leader that stays silent ends: nobody waits a whole retry longer. */
  #heldUntil = 0
  /** When the last successful renewal was sent: the others count from then or later. */
  #renewed = -Infinity

  constructor(options: LeaderOptions) {
    this.#options = options
    this.#times = options.times ?? DEFAULT_TIMES
  }

  /** Fulfilled when this process leads; `onOther` is called if another one does. Rejected with the signal's reason. */
  async acquire(signal: AbortSignal, onOther: () => void = () => undefined): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const attempt = await this.#attempt(signal)
      if (attempt === 'leads') return
      if (attempt === 'another leads') onOther()
      const pause = this.#times.retry * (0.5 + Math.random())
      const left = attempt === 'another leads' ? this.#heldUntil - performance.now() : pause
      await sleep(Math.min(pause, Math.max(left, 0) + 1), signal)
    }
  }

  /** Whether nobody else can lead yet: a process that was stopped for a while may not know that its lease has ended. */
  get isSure(): boolean {
    return performance.now() < this.#renewed + this.#times.renewal
  }

  /** Renews until another leads, renewing has failed for too long, or the signal ends it. */
  async keep(signal: AbortSignal): Promise<void> {
    for (;;) {
      const left = this.#renewed + this.#times.renewal - performance.now()
      await sleep(Math.min(this.#times.retry, Math.max(left, 0)), signal).catch(() => undefined)
      const rest = this.#renewed + this.#times.renewal - performance.now()
      if (signal.aborted || rest <= 0) return
      if ((await this.#attemptWithin(rest, signal)) === 'another leads') return
    }
  }

  /** Releases the Lease, so that another can lead at once. */
  async release(): Promise<void> {
    const {leases, name, identity, clock, onError} = this.#options
    try {
      const lease = await leases.find({namespace: OWN_NAMESPACE, name})
      if (lease?.spec?.holderIdentity !== identity) return
      const {holderIdentity: _holder, ...spec} = lease.spec
      const now = formatMicroTime(clock.now())
      await leases.update({
        ...lease,
        metadata: this.#noted(lease.metadata),
        spec: {...spec, leaseDurationSeconds: 1, acquireTime: now, renewTime: now},
      })
    } catch (error) {
      onError(error)
    }
  }

  /** A renewal that hangs must not last longer than the others wait. */
  async #attemptWithin(milliseconds: number, signal: AbortSignal): Promise<Attempt> {
    const cancellation = new Cancellation(signal)
    cancellation.expireAfter(milliseconds, () => new Error('the lease was not renewed in time'))
    try {
      return await this.#attempt(cancellation.signal)
    } finally {
      cancellation.release()
    }
  }

  async #attempt(signal: AbortSignal): Promise<Attempt> {
    const sent = performance.now()
    try {
      // A call within this process may not end with the signal.
      const attempt = await untilAborted(this.#takeOrRenew(signal), signal)
      if (attempt === 'leads') this.#renewed = sent
      return attempt
    } catch (error) {
      if (hasCode(error, 'ALREADY_EXISTS', 'CONFLICT')) return 'lost a race'
      if (!signal.aborted) this.#options.onError(error)
      return 'lost a race'
    }
  }

  async #takeOrRenew(signal: AbortSignal): Promise<Attempt> {
    const {leases, name, identity, clock} = this.#options
    const found = await leases.find({namespace: OWN_NAMESPACE, name}, {signal})
    const now = formatMicroTime(clock.now())
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.#times.lease / 1000),
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    }
    if (!found) {
      const metadata = this.#noted({namespace: OWN_NAMESPACE, name})
      await leases.create({metadata, spec}, {signal}).catch((error: unknown) => {
        throw hasCode(error, 'NOT_FOUND') ? noOwnNamespace(error) : error
      })
      return 'leads'
    }
    this.#options.shared?.load(found.metadata.annotations)
    if (this.#isHeld(found)) return 'another leads'
    const {holderIdentity, acquireTime = now, leaseTransitions = 0} = found.spec ?? {}
    const isRenewal = holderIdentity === identity
    await leases.update(
      {
        ...found,
        metadata: this.#noted(found.metadata),
        spec: {
          ...spec,
          acquireTime: isRenewal ? acquireTime : now,
          leaseTransitions: leaseTransitions + (isRenewal ? 0 : 1),
        },
      },
      {signal},
    )
    return 'leads'
  }

  #noted(metadata: Lease['metadata']): Lease['metadata'] {
    const notes = this.#options.shared?.save() ?? {}
    if (Object.keys(notes).length === 0) return metadata
    return {...metadata, annotations: {...metadata.annotations, ...notes}}
  }

  #isHeld({metadata, spec = {}}: Lease): boolean {
    const {holderIdentity = ''} = spec
    const now = performance.now()
    const isSame = this.#seen?.version === metadata.resourceVersion
    const since = isSame ? (this.#seen?.at ?? now) : now
    this.#seen = {version: metadata.resourceVersion, at: since}
    const isOthers = holderIdentity !== '' && holderIdentity !== this.#options.identity
    // Our own wait: a Lease that says it lasts for years must not stop the controllers.
    this.#heldUntil = since + this.#times.lease
    return isOthers && now < this.#heldUntil
  }
}
