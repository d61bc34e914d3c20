import {createHash, createPublicKey} from 'node:crypto'
import type {KeyObject} from 'node:crypto'
import {TrustError} from '../errors.ts'

/** The `alg` of the tokens that a key signs. */
export type TokenAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256'

export interface VerificationKey {
  /** base64url of the SHA-256 of the public key's SubjectPublicKeyInfo, as Kubernetes names its keys. */
  id: string
  key: KeyObject
  algorithm: TokenAlgorithm
}

/** The keys of service-account tokens: one signs, several are believed, so that keys can be changed. */
export interface TokenKeys {
  signing: VerificationKey
  verification: readonly VerificationKey[]
}

const EC_ALGORITHMS: Record<string, TokenAlgorithm> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
}

export const publicKeyId = (key: KeyObject) =>
  createHash('sha256')
    .update(key.export({type: 'spki', format: 'der'}))
    .digest('base64url')

function algorithmOf(key: KeyObject): TokenAlgorithm {
  if (key.asymmetricKeyType === 'rsa') return 'RS256'
  const algorithm = EC_ALGORITHMS[key.asymmetricKeyDetails?.namedCurve ?? '']
  if (key.asymmetricKeyType === 'ec' && algorithm !== undefined) return algorithm
  throw new TrustError('KEY_INVALID', 'service-account tokens cannot be signed with such a key', {
    hints: ['use an RSA key or an ECDSA key on P-256, P-384 or P-521'],
  })
}

/** Keys may be private or public; the signing key's public half is believed too. */
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
