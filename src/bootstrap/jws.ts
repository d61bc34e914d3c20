import {createHmac, timingSafeEqual} from 'node:crypto'
import {TrustError} from '../errors.ts'
import type {BootstrapToken} from './token.ts'

/** What is wrong with a signature, told apart so that whoever joins can be told. */
export type JwsFlaw = 'malformed' | 'wrong-algorithm' | 'wrong-key-id' | 'wrong-signature'

const FORM = /^([A-Za-z0-9_-]+)\.\.([A-Za-z0-9_-]*)$/

/**
 * Signs one content for many tokens: the content is encoded once. The result is a compact JWS without its payload, byte
 * for byte what Kubernetes' bootstrap signer makes, because kubeadm compares whole strings.
 */
export function detachedSigner(content: string): (token: BootstrapToken) => string {
  const payload = base64url(content)
  return ({id, secret}) => {
    if (secret === '') {
      throw new TrustError('TOKEN_MALFORMED', 'a token without a secret signs nothing')
    }
    const header = headerFor(id)
    const signature = createHmac('sha256', secret)
      .update(`${header}.${payload}`)
      .digest('base64url')
    return `${header}..${signature}`
  }
}

export const signDetached = (content: string, token: BootstrapToken): string =>
  detachedSigner(content)(token)

/**
 * Undefined where the signature is the token's over the content. The header has to be the very bytes Kubernetes writes, so
 * neither another algorithm nor a further field gets a say; signatures are compared in constant time.
 */
export function findJwsFlaw(
  jws: string,
  content: string,
  token: BootstrapToken,
): JwsFlaw | undefined {
  if (token.secret === '') return 'wrong-signature'
  const expected = Buffer.from(signDetached(content, token))
  const given = Buffer.from(jws)
  if (given.length === expected.length && timingSafeEqual(given, expected)) return undefined
  return explain(jws, token)
}

export const verifyDetached = (jws: string, content: string, token: BootstrapToken): boolean =>
  findJwsFlaw(jws, content, token) === undefined

/** Only to name what is refused already: nothing that stands in the header is acted on. */
function explain(jws: string, {id}: BootstrapToken): JwsFlaw {
  const encoded = FORM.exec(jws)?.[1] ?? ''
  if (encoded === headerFor(id)) return 'wrong-signature'
  const header = decodeHeader(encoded)
  if (!header) return 'malformed'
  if (header.alg !== 'HS256') return 'wrong-algorithm'
  return header.kid === id ? 'malformed' : 'wrong-key-id'
}

function headerFor(id: string): string {
  return base64url(JSON.stringify({alg: 'HS256', kid: id}))
}

function decodeHeader(encoded: string): Record<string, unknown> | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString())
    return typeof header === 'object' && header !== null
      ? (header as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
