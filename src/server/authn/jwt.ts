import type {KeyObject} from 'node:crypto'
import {
  SignJWT,
  compactVerify,
  decodeJwt as decodeClaims,
  decodeProtectedHeader,
  errors,
} from 'jose'
import type {JWTPayload} from 'jose'
import {TOKEN_ALGORITHMS, algorithmsOf, type TokenAlgorithm} from '../../trust/token-keys.ts'

export const signJwt = (
  claims: JWTPayload,
  {key, algorithm, id}: {key: KeyObject; algorithm: TokenAlgorithm; id: string},
): Promise<string> => new SignJWT(claims).setProtectedHeader({alg: algorithm, kid: id}).sign(key)

export interface DecodedJwt {
  token: string
  kid?: string
  claims: JWTPayload
}

const FORM = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

/** Reads a token without believing any of it. Undefined if it is no JWT, or one with an `alg` that is not ours or critical headers. */
export function decodeJwt(token: string): DecodedJwt | undefined {
  if (!FORM.test(token)) return undefined
  try {
    const {alg, kid, crit} = decodeProtectedHeader(token)
    if (!TOKEN_ALGORITHMS.some((one) => one === alg) || crit !== undefined) return undefined
    if (kid !== undefined && typeof kid !== 'string') return undefined
    return {token, claims: decodeClaims(token), ...(kid === undefined ? {} : {kid})}
  } catch {
    return undefined
  }
}

export async function isSignedBy({token}: DecodedJwt, key: KeyObject): Promise<boolean> {
  try {
    await compactVerify(token, key, {algorithms: [...algorithmsOf(key)]})
    return true
  } catch (error) {
    // Not an error of ours: the token is signed with another key or by another algorithm.
    if (error instanceof errors.JOSEError) return false
    throw error
  }
}
