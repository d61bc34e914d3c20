import type {UserInfo} from '../../api/meta.ts'
import type {Clock} from '../../runtime.ts'
import {callerGroup, isAnonymous, isMaster} from '../kernel/users.ts'
import {tooManyRequests} from '../kernel/status.ts'
import {addressKey, TokenBuckets} from './token-buckets.ts'
import {FairQueue, type FairQueueOptions} from './fair-queue.ts'
import {LargeBodies} from './large-bodies.ts'
import {
  DEFAULT_LIMITS,
  MEMORY_SHARES,
  MOST_BODY,
  REQUEST_RESERVES,
  WATCH_SHARES,
} from './request-limits.ts'
import type {RequestLimits} from './request-limits.ts'
import {ProcessorSlice} from './processor-slice.ts'
import {SharedPool, type Holding, type Member} from './shared-pool.ts'

export type {RequestLimits} from './request-limits.ts'

const REMEMBERED_ADDRESSES = 10_000
const BUSY_SECONDS = 1
/** What an upload costs before its first byte. */
const UPLOAD_OVERHEAD = 16 * 1024
/** Callers that share only within their pool. */
const ALL = 'all'
const ANONYMOUS = 'anonymous'
const MASTERS = 'masters'

export interface LimitedCaller {
  user: UserInfo
  remoteAddress: string
  /** Set for the server's own controllers, which are few and must not wait behind others. */
  inProcess?: boolean
}

/** What the callers of one kind share. */
interface Pools {
  requests: FairQueue
  watches: SharedPool
  uploads: SharedPool
  answers: SharedPool
}

const free = () => undefined

/** Keeps any one caller or group from using up the server. Excess requests get 429 with Retry-After. */
export class RequestLimiter {
  readonly #clock: Clock
  readonly #anonymousRate: TokenBuckets
  readonly #refused: TokenBuckets
  readonly #known: Pools
  readonly #anonymous: Pools
  /** Administrators must always get in to see what is wrong: only the limit of each one counts. */
  readonly #masters: Pools
  readonly #largeBodies: LargeBodies

  constructor(
    clock: Clock,
    limits: Partial<RequestLimits> = {},
    slice: ProcessorSlice = new ProcessorSlice(),
  ) {
    const all = {...DEFAULT_LIMITS, ...limits}
    this.#clock = clock
    const buckets = (perSecond: number, burst: number) =>
      new TokenBuckets({perSecond, burst, keys: REMEMBERED_ADDRESSES})
    this.#anonymousRate = buckets(all.anonymousPerSecond, all.anonymousBurst)
    this.#refused = buckets(all.refusedPerSecond, all.refusedBurst)
    this.#known = knownPools(all, slice)
    this.#anonymous = anonymousPools(all, slice)
    this.#masters = mastersPools(all)
    const groups = [...Object.keys(REQUEST_RESERVES), ANONYMOUS, MASTERS]
    this.#largeBodies = new LargeBodies(groups, waitingOf(all))
  }

  /** Counts a request of a caller without credentials against its address. Throws TooManyRequests. */
  charge({user, remoteAddress}: LimitedCaller): void {
    if (isAnonymous(user)) this.#spend(this.#anonymousRate, addressKey(remoteAddress))
  }

  /** Counts a refused credential against its address, so that guessing is slow. */
  countRefused(remoteAddress: string): void {
    this.#spend(this.#refused, addressKey(remoteAddress))
  }

  /** Waits for a slot and returns the function to call when the work is done. Throws TooManyRequests. */
  admit(caller: LimitedCaller, signal: AbortSignal): Promise<() => void> | (() => void) {
    if (caller.inProcess === true) return free
    const {pools, member} = this.#placeOf(caller)
    return pools.requests.take(member, signal)
  }

  /**
   * Takes a place for a watch, or several for one that needs more memory, and returns the function to call at its end. `reclaim` ends
   * the watch if others need the place.
   */
  openWatch(caller: LimitedCaller, reclaim: () => void, places = 1): () => void {
    if (caller.inProcess === true) return free
    const {pools, member} = this.#placeOf(caller)
    const {take, release} = pools.watches.open(member, reclaim)
    return taken(take(places), release)
  }

  /** Memory for a body, taken as the body arrives. `reclaim` drops the body if others need the memory. */
  openUpload(caller: LimitedCaller, reclaim: () => void): Holding {
    if (caller.inProcess === true) return {take: () => true, release: free}
    const {pools, member} = this.#placeOf(caller)
    const upload = pools.uploads.open(member, reclaim)
    taken(upload.take(UPLOAD_OVERHEAD), upload.release)
    return upload
  }

  /** Memory for a long response, until it is read. `reclaim` drops the response if others need the memory. */
  openAnswer(caller: LimitedCaller, bytes: number, reclaim: () => void): () => void {
    if (caller.inProcess === true) return free
    const {pools, member} = this.#placeOf(caller)
    const {take, release} = pools.answers.open(member, reclaim)
    return taken(take(bytes), release)
  }

  /** The largest body that this caller may send, if it is less than what the server reads. */
  mostBodyBytes({user}: LimitedCaller): number {
    return MOST_BODY[callerGroup(user)] ?? Infinity
  }

  /**
   * Waits until a body may be processed: small ones at once, large ones one after the other. Call what it returns when the work
   * begins. Throws TooManyRequests.
   */
  async takeTurn(caller: LimitedCaller, bytes: number, signal: AbortSignal): Promise<() => void> {
    if (caller.inProcess === true) return free
    const {pools, member} = this.#placeOf(caller)
    const group =
      pools === this.#anonymous ? ANONYMOUS : pools === this.#masters ? MASTERS : member.group
    return this.#largeBodies.turn({...member, group}, bytes, signal)
  }

  #placeOf({user, remoteAddress}: LimitedCaller): {pools: Pools; member: Member} {
    if (isAnonymous(user)) {
      return {pools: this.#anonymous, member: {group: ALL, name: addressKey(remoteAddress)}}
    }
    if (isMaster(user)) return {pools: this.#masters, member: {group: ALL, name: user.username}}
    return {pools: this.#known, member: {group: callerGroup(user), name: user.username}}
  }

  #spend(buckets: TokenBuckets, address: string): void {
    const seconds = buckets.spend(address, this.#clock.now())
    if (seconds > 0) throw tooManyRequests(seconds)
  }
}

function taken(isTaken: boolean, release: () => void): () => void {
  if (isTaken) return release
  release()
  throw tooManyRequests(BUSY_SECONDS)
}

const queueOf = (
  all: RequestLimits,
  parts: Pick<FairQueueOptions, 'perHolder' | 'reserves' | 'slice' | 'total'>,
) => new FairQueue({...parts, ...waitingOf(all)})

const waitingOf = (all: RequestLimits) => ({
  waitingPerHolder: all.waitingPerIdentity,
  waitingPerGroup: all.waitingPerGroup,
  waitMilliseconds: all.waitMilliseconds,
})

function knownPools(all: RequestLimits, slice: ProcessorSlice): Pools {
  return {
    requests: queueOf(all, {
      total: all.inFlight,
      perHolder: all.inFlightPerIdentity,
      reserves: REQUEST_RESERVES,
      slice,
    }),
    watches: new SharedPool({
      total: all.watches,
      perHolder: all.watchesPerIdentity,
      shares: WATCH_SHARES,
    }),
    uploads: new SharedPool({
      total: all.uploadBytes,
      perHolder: all.uploadBytesPerIdentity,
      shares: MEMORY_SHARES,
    }),
    answers: new SharedPool({
      total: all.answerBytes,
      perHolder: all.answerBytesPerIdentity,
      shares: MEMORY_SHARES,
    }),
  }
}

/** One address gets no more than a quarter of what callers without credentials have. */
function anonymousPools(all: RequestLimits, slice: ProcessorSlice): Pools {
  const shares = {[ALL]: 1}
  const quarter = (total: number) => ({
    total,
    perHolder: Math.max(1, Math.floor(total / 4)),
    shares,
  })
  return {
    requests: queueOf(all, {...quarter(all.anonymousInFlight), reserves: shares, slice}),
    watches: new SharedPool(quarter(all.anonymousWatches)),
    uploads: new SharedPool(quarter(all.anonymousUploadBytes)),
    answers: new SharedPool(quarter(all.anonymousAnswerBytes)),
  }
}

function mastersPools(all: RequestLimits): Pools {
  const unbounded = (perHolder: number) => ({total: Infinity, perHolder, shares: {[ALL]: 1}})
  return {
    requests: queueOf(all, {...unbounded(all.inFlightPerIdentity), reserves: {[ALL]: 1}}),
    watches: new SharedPool(unbounded(all.watchesPerIdentity)),
    uploads: new SharedPool(unbounded(all.uploadBytesPerIdentity)),
    answers: new SharedPool(unbounded(all.answerBytesPerIdentity)),
  }
}
