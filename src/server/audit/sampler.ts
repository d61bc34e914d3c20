import type {UserInfo} from '../../api/meta.ts'
import {TokenBuckets} from '../limits/token-buckets.ts'
import {isAnonymous} from '../kernel/users.ts'
import type {AuditedRequest} from './event.ts'

/** Requests that were counted instead of listed. */
export interface Counted {
  /** Absent for callers without credentials, and if there are very many callers. */
  caller?: UserInfo
  code: number
  refused: string | undefined
  requests: number
  /** The first few. */
  addresses: string[]
  since: Date
}

const INTERVAL = 10_000
/** How many of one kind are listed individually in an interval, if nobody has logged in. */
const LISTED = 10
const MAX_KINDS = 64
const MAX_ADDRESSES = 10
const MAX_CALLERS = 10_000
/** What is listed of one caller: it may do a lot at once, but not fill a log for hours. */
const READS = {perSecond: 5, burst: 1000, keys: MAX_CALLERS}
const REFUSED = {perSecond: 1, burst: 100, keys: MAX_CALLERS}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection'])

/** Of a write that failed inside the server nobody knows whether it was done. */
const mayHaveWritten = ({code, info, hasWritten}: AuditedRequest): boolean =>
  hasWritten === true || (code >= 500 && WRITES.has(info?.verb ?? ''))

/**
 * Lists every write that was done. Of other requests it lists as many of each caller as its budget allows and counts the rest; of those
 * of callers without credentials the first of each kind (same response, same reason of refusal). Nobody must be able to fill a log.
 */
export class Sampler {
  readonly #tell: (counted: Counted) => void
  readonly #reads = new TokenBuckets(READS)
  readonly #refused = new TokenBuckets(REFUSED)
  #listed = new Map<string, number>()
  #counted = new Map<string, Counted>()
  #timer: NodeJS.Timeout | undefined

  /** `tell` is called for each kind at the end of an interval in which some were counted. */
  constructor(tell: (counted: Counted) => void) {
    this.#tell = tell
  }

  /** Returns true if this one is to be listed; otherwise it has been counted. */
  isListed(audited: AuditedRequest): boolean {
    const {caller, code, refused, received} = audited
    if (caller === undefined || isAnonymous(caller)) return this.#isListedOfNobody(audited)
    if (mayHaveWritten(audited)) return true
    const budget = code >= 400 ? this.#refused : this.#reads
    if (budget.spend(caller.username, received) === 0) return true
    const kind = `${code} ${refused ?? ''} ${caller.username}`
    if (this.#counted.has(kind) || this.#counted.size < MAX_CALLERS)
      this.#count(kind, audited, caller)
    else this.#count(String(code), audited)
    return false
  }

  /** Ends the interval. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const counted = this.#counted
    this.#counted = new Map()
    this.#listed = new Map()
    for (const one of counted.values()) this.#tell(one)
  }

  #isListedOfNobody(audited: AuditedRequest): boolean {
    const {code, refused} = audited
    this.#startInterval()
    const named = `${code} ${refused ?? ''}`
    const kind = this.#listed.has(named) || this.#listed.size < MAX_KINDS ? named : ''
    const listed = this.#listed.get(kind) ?? 0
    this.#listed.set(kind, listed + 1)
    if (listed < LISTED) return true
    this.#count(kind, audited)
    return false
  }

  #count(kind: string, {code, refused, request, received}: AuditedRequest, caller?: UserInfo) {
    this.#startInterval()
    const counted = this.#counted.get(kind) ?? {
      ...(caller && {caller}),
      code,
      refused,
      requests: 0,
      addresses: [],
      since: received,
    }
    this.#counted.set(kind, counted)
    counted.requests++
    const {addresses} = counted
    const {remoteAddress} = request
    if (addresses.length < MAX_ADDRESSES && !addresses.includes(remoteAddress)) {
      addresses.push(remoteAddress)
    }
  }

  #startInterval(): void {
    this.#timer ??= setTimeout(() => this.flush(), INTERVAL).unref()
  }
}
