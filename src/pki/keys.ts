import {createPrivateKey, createPublicKey, generateKeyPair, type KeyObject} from 'node:crypto'
import {promisify} from 'node:util'
import {TrustError} from '../errors.ts'
import {pointOf, problemOfKind} from './key-info.ts'
import {encodePem, parsePem} from './pem.ts'

const generate = promisify(generateKeyPair)

const CURVES = {'ECDSA-P256': 'P-256', 'ECDSA-P384': 'P-384'} as const
const MODULUS_LENGTHS = {'RSA-2048': 2048, 'RSA-3072': 3072, 'RSA-4096': 4096} as const

/** kubeadm's names for `encryptionAlgorithm`. */
export type KeyAlgorithm = keyof typeof CURVES | keyof typeof MODULUS_LENGTHS

export const KEY_ALGORITHMS: readonly KeyAlgorithm[] = [
  'ECDSA-P256',
  'ECDSA-P384',
  'RSA-2048',
  'RSA-3072',
  'RSA-4096',
]
export const DEFAULT_KEY_ALGORITHM: KeyAlgorithm = 'ECDSA-P256'

export interface KeyPair {
  privateKey: KeyObject
  publicKey: KeyObject
}

/** On the thread pool. */
export async function generateKeys(
  algorithm: KeyAlgorithm = DEFAULT_KEY_ALGORITHM,
): Promise<KeyPair> {
  switch (algorithm) {
    case 'ECDSA-P256':
    case 'ECDSA-P384':
      return generate('ec', {namedCurve: CURVES[algorithm]})
    default:
      return generate('rsa', {modulusLength: MODULUS_LENGTHS[algorithm]})
  }
}

/** PKCS#8. */
export const privateKeyPem = (key: KeyObject): string =>
  key.export({format: 'pem', type: 'pkcs8'}).toString()

/** SubjectPublicKeyInfo. */
export const publicKeyPem = (key: KeyObject): string =>
  key.export({format: 'pem', type: 'spki'}).toString()

/** SubjectPublicKeyInfo. */
export const publicKeyDer = (key: KeyObject): Buffer => key.export({format: 'der', type: 'spki'})

/** The first private key of the text, as PKCS#8, SEC1 or PKCS#1. No error contains any part of the text. */
export function parsePrivateKey(text: string): KeyObject {
  const block = parsePem(text).find(({label}) => label.endsWith('PRIVATE KEY'))
  if (!block) throw new TrustError('KEY_INVALID', 'there is no PEM private key')
  if (
    block.label.startsWith('ENCRYPTED') ||
    block.headers.some((line) => line.includes('ENCRYPTED'))
  ) {
    throw new TrustError('KEY_INVALID', 'the private key is encrypted with a passphrase', {
      hints: ['decrypt it with "openssl pkey -in <file> -out <file>"'],
    })
  }
  try {
    return createPrivateKey(encodePem(block.label, block.bytes))
  } catch {
    // Without the cause: OpenSSL's messages are of no help, and bytes of a key must not get into a log.
    throw new TrustError('KEY_INVALID', 'the private key cannot be read')
  }
}

/** All public keys of the text, in order, and at least one; the public half of a private key does not count. */
export function parsePublicKeys(text: string): KeyObject[] {
  const blocks = parsePem(text).filter(({label}) => label.endsWith('PUBLIC KEY'))
  if (blocks.length === 0) {
    throw new TrustError('KEY_INVALID', 'there is no PEM public key')
  }
  return blocks.map(({label, bytes}) => {
    try {
      return createPublicKey(encodePem(label, bytes))
    } catch {
      throw new TrustError('KEY_INVALID', 'the public key cannot be read')
    }
  })
}

/**
 * From SubjectPublicKeyInfo. OpenSSL gets only the two coordinates of an ECDSA key, which it checks to be a point on the curve,
 * and other keys only of supported types: Node.js crashes when details of some keys are read, such as the point at infinity or
 * the curve SM2. Go does not read compressed points or explicit curves either.
 */
export function publicKeyFromDer(der: Buffer): KeyObject {
  let problem: string | undefined
  try {
    const jwk = pointOf(der)
    if (jwk !== undefined) return createPublicKey({key: jwk, format: 'jwk'})
    problem = problemOfKind(der)
    if (problem === undefined) return createPublicKey({key: der, format: 'der', type: 'spki'})
  } catch (error) {
    throw new TrustError('KEY_INVALID', 'the public key is malformed', {cause: error})
  }
  throw new TrustError('KEY_INVALID', `the public key is refused: ${problem}`)
}

export const publicHalf = (privateKey: KeyObject): KeyObject => createPublicKey(privateKey)

/** Whether the two keys are a pair. */
export function isPairOf(privateKey: KeyObject, publicKey: KeyObject): boolean {
  return publicHalf(privateKey).equals(publicKey)
}
