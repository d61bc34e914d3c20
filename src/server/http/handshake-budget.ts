import {readCaller} from '../../pki/client-identity.ts'
import {addressKey} from '../limits/address-key.ts'
import {TokenBuckets} from '../limits/token-buckets.ts'

const KIB = 1024
/** How many bytes an address may send each second, and at once. */
const BYTES = {perSecond: 4 * KIB, burst: 256 * KIB, keys: 10_000}
/** What a client sends that does not trust this server and closes: too little to contain a certificate. */
const HELLO = KIB
/** More than any chain of a cluster's CA takes. */
const USUAL_CHAIN = 8 * KIB

/**
 * What handshakes may cost an address. OpenSSL verifies every signature of a caller's chain before our code sees it, on the
 * server's own thread. 80 KiB of keys made for this purpose take half a second. So bytes that could contain such keys are
 * charged to the address, and an address that has used up its budget is refused for a while. Usual handshakes are free.
 */
export class HandshakeBudget {
  readonly #bytes = new TokenBuckets(BYTES)

  allows(address: string): boolean {
    return !this.#bytes.isSpent(addressKey(address), now())
  }

  /** A connection has ended before its handshake was done. */
  failed(address: string, bytesRead: number): void {
    this.#charge(address, bytesRead - HELLO)
  }

  done(address: string, bytesRead: number, presented: readonly Uint8Array[]): void {
    if (presented.length === 0) return
    const size = presented.reduce((sum, {length}) => sum + length, 0)
    const isUsual = typeof readCaller(presented) !== 'string'
    this.#charge(address, isUsual ? size - USUAL_CHAIN : bytesRead)
  }

  #charge(address: string, bytes: number): void {
    if (bytes > 0) this.#bytes.charge(addressKey(address), bytes, now())
  }
}

/** Keeps running when the machine's clock is set. */
const now = () => new Date(performance.now())
