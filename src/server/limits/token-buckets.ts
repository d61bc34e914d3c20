import {isIPv6} from 'node:net'

interface TokenBucketOptions {
  /** How many are added each second. */
  perSecond: number
  /** How many may be spent at once. */
  burst: number
  /** How many keys are remembered; beyond that the least recently used one is forgotten. */
  keys: number
}

interface Bucket {
  tokens: number
  /** In milliseconds. */
  filled: number
}

/** A rate limit for each of many keys, in bounded memory. */
export class TokenBuckets {
  readonly #options: TokenBucketOptions
  readonly #buckets = new Map<string, Bucket>()

  constructor(options: TokenBucketOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#buckets.size
  }

  /** Spends one; returns 0, or how many seconds until one is available. */
  spend(key: string, now: Date): number {
    const tokens = this.#level(key, now)
    const isSpent = tokens >= 1
    this.#remember(key, {tokens: isSpent ? tokens - 1 : tokens, filled: now.getTime()})
    return isSpent ? 0 : Math.max(1, Math.ceil((1 - tokens) / this.#options.perSecond))
  }

  /** Charges what has already been used, even if it is more than available. */
  charge(key: string, amount: number, now: Date): void {
    this.#remember(key, {tokens: this.#level(key, now) - amount, filled: now.getTime()})
  }

  isSpent(key: string, now: Date): boolean {
    return this.#level(key, now) <= 0
  }

  /** Gives back one that was spent. */
  refund(key: string): void {
    const known = this.#buckets.get(key)
    if (known !== undefined) known.tokens = Math.min(this.#options.burst, known.tokens + 1)
  }

  #level(key: string, now: Date): number {
    const {perSecond, burst} = this.#options
    const known = this.#buckets.get(key)
    if (known === undefined) return burst
    // If the clock was set back, time counts from here: nobody must be locked out.
    const elapsed = Math.max(0, now.getTime() - known.filled) / 1000
    return Math.min(burst, known.tokens + elapsed * perSecond)
  }

  #remember(key: string, bucket: Bucket): void {
    this.#buckets.delete(key)
    if (this.#buckets.size >= this.#options.keys) {
      const [oldest] = this.#buckets.keys()
      if (oldest !== undefined) this.#buckets.delete(oldest)
    }
    this.#buckets.set(key, bucket)
  }
}

const MAPPED_V4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The key of one caller in a rate limit: an IPv4 address, or an IPv6 /64, because one host may use all of it. */
export function addressKey(address: string): string {
  const [, mapped] = MAPPED_V4.exec(address) ?? []
  if (mapped !== undefined) return mapped
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return address
  const [head = '', tail] = bare.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array.from({length: zeros}, () => '0'), ...after]
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}
