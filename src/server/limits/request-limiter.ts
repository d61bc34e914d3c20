import type {UserInfo} from '../../api/meta.ts'
import type {Clock} from '../../runtime.ts'
import {isAnonymous, isMaster} from '../authn/users.ts'
import {tooManyRequests} from '../status.ts'
import {addressKey} from './address-key.ts'
import {SlotPool} from './slot-pool.ts'
import {TokenBuckets} from './token-buckets.ts'

export interface RequestLimits {
  inFlight: number
  inFlightPerIdentity: number
  /** Of all that is in flight, what callers without credentials may take together. */
  anonymousInFlight: number
  watches: number
  watchesPerIdentity: number
  anonymousWatches: number
  /** Of one address, behind which a whole data centre may be joining. */
  anonymousPerSecond: number
  anonymousBurst: number
  /** Credentials of one address that were refused: whoever guesses has to wait. */
  refusedPerSecond: number
  refusedBurst: number
}

export const DEFAULT_LIMITS: RequestLimits = {
  inFlight: 600,
  inFlightPerIdentity: 200,
  anonymousInFlight: 400,
  watches: 10_000,
  watchesPerIdentity: 2000,
  anonymousWatches: 50,
  anonymousPerSecond: 1000,
  anonymousBurst: 2000,
  refusedPerSecond: 20,
  refusedBurst: 100,
}

const REMEMBERED_ADDRESSES = 10_000
const BUSY_SECONDS = 1

export interface LimitedCaller {
  user: UserInfo
  remoteAddress: string
  /** Set for the server's own controllers, which are few and must not wait behind others. */
  inProcess?: boolean
}

type Kind = 'request' | 'watch'

/** Keeps any one caller from using up the server; what is too much is answered 429 with Retry-After. */
export class RequestLimiter {
  readonly #clock: Clock
  readonly #anonymous: TokenBuckets
  readonly #refused: TokenBuckets
  readonly #pools: Record<Kind, {known: SlotPool; anonymous: SlotPool}>

  constructor(clock: Clock, limits: Partial<RequestLimits> = {}) {
    const all = {...DEFAULT_LIMITS, ...limits}
    this.#clock = clock
    const buckets = (perSecond: number, burst: number) =>
      new TokenBuckets({perSecond, burst, keys: REMEMBERED_ADDRESSES})
    this.#anonymous = buckets(all.anonymousPerSecond, all.anonymousBurst)
    this.#refused = buckets(all.refusedPerSecond, all.refusedBurst)
    const quarter = (total: number) => Math.max(1, Math.floor(total / 4))
    this.#pools = {
      request: {
        known: new SlotPool({total: all.inFlight, perHolder: all.inFlightPerIdentity}),
        anonymous: new SlotPool({
          total: all.anonymousInFlight,
          perHolder: quarter(all.anonymousInFlight),
        }),
      },
      watch: {
        known: new SlotPool({total: all.watches, perHolder: all.watchesPerIdentity}),
        anonymous: new SlotPool({
          total: all.anonymousWatches,
          perHolder: quarter(all.anonymousWatches),
        }),
      },
    }
  }

  /** Throws TooManyRequests, or answers what to call when the request has ended. */
  admit({user, remoteAddress, inProcess = false}: LimitedCaller, kind: Kind): () => void {
    if (inProcess) return () => undefined
    const pools = this.#pools[kind]
    const release = isAnonymous(user)
      ? this.#admitAnonymous(pools.anonymous, addressKey(remoteAddress))
      : // Somebody must be able to get in and see what is wrong.
        pools.known.take(user.username, {beyondTotal: isMaster(user)})
    if (release === undefined) throw tooManyRequests(BUSY_SECONDS)
    return release
  }

  #admitAnonymous(pool: SlotPool, address: string): (() => void) | undefined {
    this.#spend(this.#anonymous, address)
    return pool.take(address)
  }

  /** Counts a refused credential against its address, so that nobody can guess fast. */
  countRefused(remoteAddress: string): void {
    this.#spend(this.#refused, addressKey(remoteAddress))
  }

  /** How many requests and watches there are now, for metrics. */
  inFlight(kind: Kind): number {
    const {known, anonymous} = this.#pools[kind]
    return known.taken + anonymous.taken
  }

  #spend(buckets: TokenBuckets, address: string): void {
    const seconds = buckets.spend(address, this.#clock.now())
    if (seconds > 0) throw tooManyRequests(seconds)
  }
}
