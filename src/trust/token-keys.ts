import {createHash, createPublicKey} from 'node:crypto'
import type {KeyObject} from 'node:crypto'
import {TrustError} from '../errors.ts'

const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const
const EC_ALGORITHMS = {prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512'} as const

/** The `alg` of a token. */
export type TokenAlgorithm =
  (typeof RSA_ALGORITHMS)[number] | (typeof EC_ALGORITHMS)[keyof typeof EC_ALGORITHMS]

export const TOKEN_ALGORITHMS: readonly TokenAlgorithm[] = [
  ...RSA_ALGORITHMS,
  ...Object.values(EC_ALGORITHMS),
]

interface VerificationKey {
  /** base64url of the SHA-256 of the public key's SubjectPublicKeyInfo, as Kubernetes names its keys. */
  id: string
  key: KeyObject
  algorithm: TokenAlgorithm
}

/** The keys of service-account tokens: one signs, several verify, so that keys can be replaced. */
export interface TokenKeys {
  signing: VerificationKey
  verification: readonly VerificationKey[]
}

/** The key decides which signatures it may be checked with, never the token alone. The first one is for signing. */
export function algorithmsOf(key: KeyObject): readonly TokenAlgorithm[] {
  const {modulusLength = 0, namedCurve = ''} = key.asymmetricKeyDetails ?? {}
  if (key.asymmetricKeyType === 'rsa' && modulusLength >= 2048) return RSA_ALGORITHMS
  const isKnownCurve = key.asymmetricKeyType === 'ec' && Object.hasOwn(EC_ALGORITHMS, namedCurve)
  return isKnownCurve ? [EC_ALGORITHMS[namedCurve as keyof typeof EC_ALGORITHMS]] : []
}

/** The id of a key in the form of a discovery pin. */
export const pinOfKeyId = (id: string): string =>
  `sha256:${Buffer.from(id, 'base64url').toString('hex')}`

const publicKeyId = (key: KeyObject) =>
  createHash('sha256')
    .update(key.export({type: 'spki', format: 'der'}))
    .digest('base64url')

function algorithmOf(key: KeyObject): TokenAlgorithm {
  const [algorithm] = algorithmsOf(key)
  if (algorithm !== undefined) return algorithm
  throw new TrustError('KEY_INVALID', 'this key cannot sign service-account tokens', {
    hints: ['use an RSA key of at least 2048 bits, or an ECDSA key on P-256, P-384 or P-521'],
  })
}

/** Keys may be private or public; the public half of the signing key verifies too. */
export function createTokenKeys(
  signingKey: KeyObject,
  alsoBelieved: readonly KeyObject[] = [],
): TokenKeys {
  const verification = new Map<string, VerificationKey>()
  for (const key of [signingKey, ...alsoBelieved].map(publicHalf)) {
    const id = publicKeyId(key)
    verification.set(id, {id, key, algorithm: algorithmOf(key)})
  }
  return {
    signing: {
      id: publicKeyId(publicHalf(signingKey)),
      key: signingKey,
      algorithm: algorithmOf(signingKey),
    },
    verification: [...verification.values()],
  }
}

const publicHalf = (key: KeyObject) => (key.type === 'private' ? createPublicKey(key) : key)
