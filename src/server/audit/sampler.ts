import type {AuditedRequest} from './event.ts'

/** Requests that were counted instead of listed. */
export interface Counted {
  code: number
  refused: string | undefined
  requests: number
  /** The first few. */
  addresses: string[]
  since: Date
}

const INTERVAL = 10_000
/** How many of one kind are listed individually in an interval. */
const LISTED = 10
const MAX_KINDS = 64
const MAX_ADDRESSES = 10

/**
 * Of many similar requests (same response, same reason of refusal) lists the first and counts the rest. A caller without
 * credentials must not be able to fill a log.
 */
export class Sampler {
  readonly #tell: (counted: Counted) => void
  #listed = new Map<string, number>()
  #counted = new Map<string, Counted>()
  #timer: NodeJS.Timeout | undefined

  /** `tell` is called for each kind at the end of an interval in which some were counted. */
  constructor(tell: (counted: Counted) => void) {
    this.#tell = tell
  }

  /** Returns true if this one is to be listed; otherwise it has been counted. */
  isListed({code, refused, request, received}: AuditedRequest): boolean {
    const kind = this.#kindOf(`${code} ${refused ?? ''}`)
    this.#timer ??= setTimeout(() => this.flush(), INTERVAL).unref()
    const listed = this.#listed.get(kind) ?? 0
    this.#listed.set(kind, listed + 1)
    if (listed < LISTED) return true
    const counted = this.#counted.get(kind) ?? {
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

  #kindOf(kind: string): string {
    return this.#listed.has(kind) || this.#listed.size < MAX_KINDS ? kind : ''
  }
}
