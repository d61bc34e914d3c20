import {generateToken, requireStrongToken} from '../../bootstrap/generate-token.ts'
import {
  DEFAULT_TOKEN_TTL,
  describeToken,
  type BootstrapTokenInfo,
  type NewTokenOptions,
} from '../../bootstrap/token-info.ts'
import {toSecret} from '../../bootstrap/token-secret.ts'
import type {BootstrapToken} from '../../bootstrap/token.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {TrustError, hasCode} from '../../errors.ts'

/** A token that should exist. */
export interface WantedToken extends NewTokenOptions {
  /** A random one if absent. */
  token?: BootstrapToken | undefined
}

export interface TokenPolicy {
  /** Accepts a token that could be guessed. */
  allowWeak?: boolean | undefined
  /** Gives the wanted lifetime to a token that exists already; without it, the time it has left is kept. */
  setsLifetime?: boolean | undefined
}

/** The complete description of a token, with kubeadm's defaults. Refuses a token that could be guessed. */
export function completeToken(
  {token, ...options}: WantedToken,
  now: Date,
  {allowWeak = false}: TokenPolicy = {},
): BootstrapTokenInfo {
  if (token && !allowWeak) requireStrongToken(token)
  return describeToken(token ?? generateToken(), options, now)
}

/** Stores a new token, as `kubeadm token create`. Refuses an id that is already in use, even for the same token. */
export async function createToken(
  {secrets}: Pick<ApiClient, 'secrets'>,
  info: BootstrapTokenInfo,
  {dryRun}: {dryRun?: boolean} = {},
): Promise<void> {
  try {
    await secrets.create(toSecret(info), {dryRun})
  } catch (error) {
    throw hasCode(error, 'ALREADY_EXISTS') ? idInUse(info.token.id, error) : error
  }
}

export function idInUse(id: string, cause?: unknown): TrustError {
  return new TrustError('ALREADY_EXISTS', `a token with the id "${id}" already exists`, {
    cause,
    facts: {id},
    hints: [
      'leave out the token to create a random one',
      `or delete the other one first with "trustadm token delete ${id}"`,
    ],
  })
}

/** What such a token allows, and until when. */
export interface TokenNote {
  line: string
  /** It is valid for longer than by default: whoever finds it has more time. */
  isWarning: boolean
}

/** A note about what such a token allows; undefined if it cannot be used to join. `commandFor` completes a command for this cluster. */
export function noteOf(
  info: BootstrapTokenInfo,
  now: Date,
  commandFor: (command: string) => string,
): TokenNote | undefined {
  const {token, usages, expires} = info
  if (!usages.authentication) return undefined
  const end = expires ? `until ${expires.toISOString().slice(0, 19)}Z` : 'and does not expire'
  return {
    line: `token ${token.id} can join machines ${end}; to revoke it, run "${commandFor(`token delete ${token.id}`)}"`,
    isWarning: !expires || expires.getTime() > now.getTime() + DEFAULT_TOKEN_TTL,
  }
}
