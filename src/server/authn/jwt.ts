import {constants, sign, verify} from 'node:crypto'
import type {KeyObject, SignKeyObjectInput} from 'node:crypto'

export type JwtAlgorithm =
  'ES256' | 'ES384' | 'ES512' | 'PS256' | 'PS384' | 'PS512' | 'RS256' | 'RS384' | 'RS512'

const CURVES: Partial<Record<JwtAlgorithm, string>> = {
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
}

const ALGORITHMS = new Set(
  ['RS', 'ES', 'PS'].flatMap((family) => ['256', '384', '512'].map((bits) => `${family}${bits}`)),
)

export const isJwtAlgorithm = (text: unknown): text is JwtAlgorithm =>
  typeof text === 'string' && ALGORITHMS.has(text)

/** The key decides what signatures it may be checked with, never the token alone. */
export function keySuits(key: KeyObject, algorithm: JwtAlgorithm): boolean {
  if (!algorithm.startsWith('ES')) return key.asymmetricKeyType === 'rsa'
  return (
    key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === CURVES[algorithm]
  )
}

function options(key: KeyObject, algorithm: JwtAlgorithm): SignKeyObjectInput {
  if (algorithm.startsWith('ES')) return {key, dsaEncoding: 'ieee-p1363'}
  if (algorithm.startsWith('RS')) return {key, padding: constants.RSA_PKCS1_PADDING}
  return {
    key,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  }
}

const digestOf = (algorithm: JwtAlgorithm) => `sha${algorithm.slice(2)}`

const encodePart = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs claims, on the thread pool. */
export async function signJwt(
  claims: object,
  {key, algorithm, id}: {key: KeyObject; algorithm: JwtAlgorithm; id: string},
): Promise<string> {
  const input = `${encodePart({alg: algorithm, kid: id})}.${encodePart(claims)}`
  const signature = await new Promise<Buffer>((resolve, reject) => {
    sign(digestOf(algorithm), Buffer.from(input), options(key, algorithm), (error, bytes) => {
      if (error === null) resolve(bytes)
      else reject(error)
    })
  })
  return `${input}.${signature.toString('base64url')}`
}

export interface DecodedJwt {
  header: {alg: JwtAlgorithm; kid?: string}
  claims: Record<string, unknown>
  signed: Buffer
  signature: Buffer
}

const BASE64URL = /^[A-Za-z0-9_-]+$/

function decodeObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Takes a compact JWS apart without believing any of it; undefined where it is none, or one with an `alg` that is not ours. */
export function decodeJwt(token: string): DecodedJwt | undefined {
  const parts = token.split('.')
  const [headerPart = '', claimsPart = '', signaturePart = ''] = parts
  if (parts.length !== 3 || !parts.every((part) => BASE64URL.test(part))) return undefined
  const header = decodeObject(headerPart)
  const claims = decodeObject(claimsPart)
  if (header === undefined || claims === undefined) return undefined
  const {alg, kid, crit} = header
  if (!isJwtAlgorithm(alg) || crit !== undefined) return undefined
  if (kid !== undefined && typeof kid !== 'string') return undefined
  return {
    header: {alg, ...(kid === undefined ? {} : {kid})},
    claims,
    signed: Buffer.from(`${headerPart}.${claimsPart}`),
    signature: Buffer.from(signaturePart, 'base64url'),
  }
}

/** Checks the signature, on the thread pool. */
export async function isSignedBy(
  {header, signed, signature}: DecodedJwt,
  key: KeyObject,
): Promise<boolean> {
  const {alg} = header
  if (!keySuits(key, alg)) return false
  return new Promise((resolve) => {
    verify(digestOf(alg), signed, options(key, alg), signature, (error, good) => {
      resolve(error === null && good)
    })
  })
}
