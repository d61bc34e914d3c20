import {TrustError} from '../errors.ts'

/** A namespaced Kubernetes name needs about 600 bytes; the bound keeps the index in memory small. */
const MAX_KEY_BYTES = 1_978

const FIRST_SURROGATE = 0xd800
const AFTER_SURROGATES = 0xe000
const LONE_SURROGATE = /\p{Surrogate}/u

/** Orders keys by their UTF-8 bytes, as etcd does. Comparing strings with `<` orders by UTF-16 units. */
export function compareKeys(left: string, right: string): number {
  const shared = Math.min(left.length, right.length)
  for (let index = 0; index < shared; index++) {
    const difference = left.charCodeAt(index) - right.charCodeAt(index)
    if (difference === 0) continue
    return byteRank(left.charCodeAt(index)) - byteRank(right.charCodeAt(index))
  }
  return left.length - right.length
}

/** Surrogates stand for U+10000 and above, whose bytes sort after those of U+E000 to U+FFFF. */
function byteRank(unit: number): number {
  if (unit < FIRST_SURROGATE) return unit
  return unit < AFTER_SURROGATES ? unit + 0x10000 : unit
}

/** Refuses invalid keys: empty, too long, or text that is not valid Unicode. */
export function requireKey(key: string): void {
  if (key === '') throw new TrustError('INVALID', 'a key in the store must not be empty')
  if (key.length > MAX_KEY_BYTES || Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw new TrustError('INVALID', `a key in the store has at most ${MAX_KEY_BYTES} bytes`)
  }
  if (LONE_SURROGATE.test(key)) {
    throw new TrustError('INVALID', 'a key in the store must be well-formed Unicode')
  }
}
