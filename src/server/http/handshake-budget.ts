import {readCaller} from '../../pki/client-identity.ts'
import {addressKey} from '../limits/address-key.ts'
import {TokenBuckets} from '../limits/token-buckets.ts'

const KIB = 1024
/** What an address may send again in a second, and at once. */
const BYTES = {perSecond: 4 * KIB, burst: 256 * KIB, keys: 10_000}
/** What a client sends that does not trust this server and gives up: too little to contain a certificate. */
const HELLO = KIB
/** More than any chain of a cluster's CA takes. */
const USUAL_CHAIN = 8 * KIB

/**
 * What handshakes may cost an address. OpenSSL checks every signature of the chain that a caller presents before anybody can
 * look at it, on the server's own thread: 80 KiB of keys made for that take half a second. So bytes that could have held such
 * keys are charged to the address, and one that has used up its own is not let in for a while. Usual handshakes are free.
 */
export class HandshakeBudget {
  readonly #bytes = new TokenBuckets(BYTES)

  allows(address: string): boolean {
    return !this.#bytes.isSpent(addressKey(address), now())
  }

  /** A connection has ended before its handshake did. */
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

/** Runs on where the clock of the machine is set. */
const now = () => new Date(performance.now())
