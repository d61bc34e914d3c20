import {hash, timingSafeEqual} from 'node:crypto'
import {elsewhere, TrustError} from '../errors.ts'

/** A bootstrap token `<id>.<secret>`: the id is public, the secret is not. */
export interface BootstrapToken {
  id: string
  secret: string
}

export const TOKEN_CHARACTERS = '0123456789abcdefghijklmnopqrstuvwxyz'
export const TOKEN_ID_LENGTH = 6
export const TOKEN_SECRET_LENGTH = 16

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const ID = /^[a-z0-9]{6}$/
const SECRET = /^[a-z0-9]{16}$/
const TOKENS_IN_TEXT = /(?<![a-z0-9])([a-z0-9]{6})\.[a-z0-9]{16}(?![a-z0-9])/g
const MASK = '*'.repeat(TOKEN_SECRET_LENGTH)

/** Reads a token in the form that Kubernetes accepts. */
export function parseToken(text: string): BootstrapToken {
  const [, id, secret] = TOKEN.exec(text) ?? []
  if (id !== undefined && secret !== undefined) return {id, secret}
  throw malformed('a token is 6 characters of a-z and 0-9, a dot and 16 more: this one is not')
}

export const formatToken = ({id, secret}: BootstrapToken): string => `${id}.${secret}`

export const isToken = (text: string): boolean => TOKEN.test(text)
export const isTokenId = (text: string): boolean => ID.test(text)
export const isTokenSecret = (text: string): boolean => SECRET.test(text)

/** The id of a token from the command line, given as `kubeadm token delete` accepts it: an id or a whole token. */
export function parseTokenId(text: string): string {
  const id = TOKEN.exec(text)?.[1] ?? ID.exec(text)?.[0]
  if (id !== undefined) return id
  throw malformed(
    'that is neither a token nor a token id, which has 6 characters of a-z and 0-9',
    'list the tokens with "trustadm token list"',
  )
}

/** The token with its secret hidden, for people and logs. */
export const hideSecret = ({id}: Pick<BootstrapToken, 'id'>): string => `${id}.${MASK}`

/** The text with the secret of every token in it hidden. */
export const hideSecrets = (text: string): string => text.replace(TOKENS_IN_TEXT, `$1.${MASK}`)

/** Compares in constant time: it reveals neither where the two differ nor how long the right one is. */
export function isSameSecret(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** The input is never shown: a mistyped token is still most of a secret. */
function malformed(
  message: string,
  hint = elsewhere('create a token with "trustadm token create" on the control plane'),
): TrustError {
  return new TrustError('TOKEN_MALFORMED', message, {hints: [hint]})
}
