import {FlattenedSign, decodeProtectedHeader, errors, flattenedVerify} from 'jose'
import {TrustError} from '../errors.ts'
import type {BootstrapToken} from './token.ts'

/** What is wrong with a signature, so that `join` can explain it. */
export type JwsFlaw = 'malformed' | 'wrong-algorithm' | 'wrong-key-id' | 'wrong-signature'

const ALGORITHM = 'HS256'
/** Kubernetes' signatures have about 90 characters. */
const MAX_JWS = 1024
const FORM = /^([A-Za-z0-9_-]+)\.\.([A-Za-z0-9_-]*)$/

const keyOf = ({secret}: BootstrapToken) => new TextEncoder().encode(secret)

const headerOf = ({id}: BootstrapToken) => ({alg: ALGORITHM, kid: id})

const encode = (text: string) => Buffer.from(text).toString('base64url')

/**
 * A compact JWS without its payload, byte for byte as Kubernetes' bootstrap signer creates it, because kubeadm compares whole
 * strings.
 */
export async function signDetached(content: string, token: BootstrapToken): Promise<string> {
  if (token.secret === '') {
    throw new TrustError('TOKEN_MALFORMED', 'a token without a secret cannot sign')
  }
  const jws = await new FlattenedSign(new TextEncoder().encode(content))
    .setProtectedHeader(headerOf(token))
    .sign(keyOf(token))
  return `${String(jws.protected)}..${jws.signature}`
}

/**
 * Undefined if the token has signed the content. The header must have exactly the bytes that Kubernetes writes, so that neither
 * another algorithm nor an additional field has any effect.
 */
export async function findJwsFlaw(
  jws: string,
  content: string,
  token: BootstrapToken,
): Promise<JwsFlaw | undefined> {
  if (jws.length > MAX_JWS) return 'malformed'
  const [, header, signature] = FORM.exec(jws) ?? []
  if (header === undefined || signature === undefined) return 'malformed'
  const flaw = findHeaderFlaw(header, token)
  if (flaw !== undefined) return flaw
  // The last character of base64url has bits that decoders ignore.
  const canonical = Buffer.from(signature, 'base64url').toString('base64url') === signature
  if (token.secret === '' || !canonical) return 'wrong-signature'
  try {
    const signed = {protected: header, payload: encode(content), signature}
    await flattenedVerify(signed, keyOf(token), {algorithms: [ALGORITHM]})
    return undefined
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return 'wrong-signature'
    throw error
  }
}

function findHeaderFlaw(encoded: string, token: BootstrapToken): JwsFlaw | undefined {
  if (encoded === encode(JSON.stringify(headerOf(token)))) return undefined
  let header: Record<string, unknown>
  try {
    header = decodeProtectedHeader({protected: encoded})
  } catch {
    return 'malformed'
  }
  if (header.alg !== ALGORITHM) return 'wrong-algorithm'
  return header.kid === token.id ? 'malformed' : 'wrong-key-id'
}
