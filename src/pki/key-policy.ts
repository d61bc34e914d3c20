import type {KeyObject} from 'node:crypto'
import {TrustError} from '../errors.ts'
import {weaknessOfModulus} from './weak-rsa.ts'

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
