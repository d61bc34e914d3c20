import type {KeyObject} from 'node:crypto'
import {TrustError} from '../errors.ts'

/** Small primes up to this limit divide most moduli of broken generators. */
const SMALL_PRIME_BOUND = 752
const FERMAT_ROUNDS = 110

/** The tables below are for RSA keys only, which few clusters have: each is made when it is first needed. */
function lazily<Table>(make: () => Table): () => Table {
  let made: Table | undefined
  return () => (made ??= make())
}

function primesUpTo(bound: number): number[] {
  const primes: number[] = []
  for (let candidate = 2; candidate <= bound; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  }
  return primes
}

const primes = lazily(() => primesUpTo(SMALL_PRIME_BOUND))
const product = lazily(() => primes().reduce((all, prime) => all * BigInt(prime), 1n))

/** The primes whose product the vulnerable Infineon library built its keys around (CVE-2017-15361). */
const rocaPrimes = () => primes().filter((prime) => prime > 2 && prime <= 167)
const ROCA_GENERATOR = 65_537

function powersModulo(base: number, modulus: number): Set<number> {
  const powers = new Set<number>()
  for (let power = 1; !powers.has(power); power = (power * base) % modulus) powers.add(power)
  return powers
}

const rocaPowers = lazily(() =>
  rocaPrimes().map((prime) => ({prime, powers: powersModulo(ROCA_GENERATOR % prime, prime)})),
)

function squareRoot(value: bigint): bigint {
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (guess + value / guess) >> 1n
    if (next >= guess) return guess
    guess = next
  }
}

/** Squares have few remainders: these two divisions rule out nine of ten numbers before a root is computed. */
const squaresModulo = (modulus: number) =>
  lazily(() => new Set(Array.from({length: modulus}, (_, root) => (root * root) % modulus)))
const squaresModulo64 = squaresModulo(64)
const squaresModulo3465 = squaresModulo(3465)

function isSquare(value: bigint): boolean {
  if (!squaresModulo64().has(Number(value & 63n))) return false
  if (!squaresModulo3465().has(Number(value % 3465n))) return false
  return squareRoot(value) ** 2n === value
}

/** Fermat's method finds the factors at once if the two primes are too close to each other. */
function hasClosePrimes(modulus: bigint): boolean {
  let middle = squareRoot(modulus)
  if (middle * middle < modulus) middle += 1n
  for (let round = 0; round < FERMAT_ROUNDS; round += 1, middle += 1n) {
    if (isSquare(middle * middle - modulus)) return true
  }
  return false
}

/** Why a modulus can easily be factored; undefined if it cannot. The checks of boulder's key policy. */
export function weaknessOfModulus(modulus: bigint): string | undefined {
  const smallPart = modulus % product()
  const divisor = primes().find((prime) => smallPart % BigInt(prime) === 0n)
  if (divisor !== undefined) return 'its modulus is divisible by a small prime'
  if (rocaPowers().every(({prime, powers}) => powers.has(Number(modulus % BigInt(prime))))) {
    return 'it was generated with a known weakness (ROCA)'
  }
  return hasClosePrimes(modulus) ? 'its two primes are too close to each other' : undefined
}

const SMALLEST_MODULUS = 2048
/** Go's TLS refuses larger ones too: they are a cheap way to keep a server busy. */
const LARGEST_MODULUS = 8192
const USUAL_EXPONENT = 65_537n
const CURVES: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1']

function weakness(key: KeyObject): string | undefined {
  const {modulusLength = 0, namedCurve, publicExponent} = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return undefined
    case 'ec':
      return CURVES.includes(namedCurve) ? undefined : 'its curve is not P-256, P-384 or P-521'
    case 'rsa': {
      if (modulusLength < SMALLEST_MODULUS)
        return `RSA needs at least ${SMALLEST_MODULUS} bits, it has ${modulusLength}`
      if (modulusLength > LARGEST_MODULUS)
        return `RSA may have at most ${LARGEST_MODULUS} bits, it has ${modulusLength}`
      if (modulusLength % 8 !== 0) return `an RSA modulus of ${modulusLength} bits is not supported`
      if (publicExponent !== USUAL_EXPONENT) return 'its RSA exponent is not 65537'
      const {n = ''} = key.export({format: 'jwk'})
      return weaknessOfModulus(BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`))
    }
    default:
      return 'it is not RSA, ECDSA or Ed25519'
  }
}

/** Refuses keys that can be broken, or that clients of the cluster cannot use. */
export function requireStrongKey(publicKey: KeyObject): void {
  const reason = weakness(publicKey)
  if (reason === undefined) return
  throw new TrustError('KEY_INVALID', `the public key is refused: ${reason}`, {
    hints: ['use ECDSA-P256, ECDSA-P384, RSA-2048, RSA-3072 or RSA-4096'],
  })
}
