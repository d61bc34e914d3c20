import {checkPrimeSync, generatePrimeSync} from 'node:crypto'
import {
  TAG,
  bitString,
  element,
  oid,
  sequence,
  unsignedInteger,
} from '../../../src/pki/der-writer.ts'
import {weaknessOfModulus} from '../../../src/pki/key-policy.ts'

const bytesOf = (value: bigint) => {
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

/** SubjectPublicKeyInfo of an RSA key that nobody has the other half of. */
export const rsaKeyInfo = (modulus: bigint, exponent = 65_537n): Buffer =>
  sequence(
    sequence(oid('1.2.840.113549.1.1.1'), element(TAG.null)),
    bitString(sequence(unsignedInteger(bytesOf(modulus)), unsignedInteger(bytesOf(exponent)))),
  )

/** SubjectPublicKeyInfo of an ECDSA key, whatever the point is. */
export const ecKeyInfo = (curve: string, point: Uint8Array): Buffer =>
  sequence(sequence(oid('1.2.840.10045.2.1'), oid(curve)), bitString(point))

export const P256 = '1.2.840.10045.3.1.7'
/** Of the field of P-256. */
export const P256_PRIME = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n

export const point = (x: bigint, y: bigint): Buffer =>
  Buffer.concat([
    Uint8Array.of(4),
    ...[x, y].map((one) => Buffer.from(one.toString(16).padStart(64, '0'), 'hex')),
  ])

/** A product of two primes, of exactly so many bits. */
export function modulusOf(bits: number): bigint {
  const half = Math.floor(bits / 2)
  for (;;) {
    const [p, q] = [half, bits - half].map((size) => generatePrimeSync(size, {bigint: true}))
    const product = (p ?? 0n) * (q ?? 0n)
    if (product.toString(2).length === bits) return product
  }
}

export const smallFactorModulus = () => (((1n << 2048n) - 1n) / 751n) * 751n

/** Two primes, one the next after the other. */
export function closePrimesModulus(): bigint {
  const first = generatePrimeSync(1024, {bigint: true})
  let second = first + 2n
  while (!checkPrimeSync(second)) second += 2n
  return first * second
}

/** As the broken generator made them: a power of 65537 modulo the product of the first odd primes. */
export function rocaModulus(): bigint {
  let product = 1n
  for (let prime = 3n; prime <= 167n; prime += 2n) if (checkPrimeSync(prime)) product *= prime
  const base = ((1n << 2047n) / product + 1n) * product + 65_537n ** 3n
  for (let step = 0n; step < 1000n; step += 1n) {
    const modulus = base + step * product
    if (weaknessOfModulus(modulus)?.includes('ROCA') === true) return modulus
  }
  throw new Error('none found')
}
