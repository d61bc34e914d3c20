import {generateToken} from '../../bootstrap/generate-token.ts'
import {
  describeToken,
  type BootstrapTokenInfo,
  type NewTokenOptions,
} from '../../bootstrap/token-info.ts'
import {toSecret} from '../../bootstrap/token-secret.ts'
import type {BootstrapToken} from '../../bootstrap/token.ts'
import {requireStrongToken} from '../../bootstrap/weak-token.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {TrustError, hasCode} from '../../errors.ts'

/** A token that somebody wants to be there. */
export interface WantedToken extends NewTokenOptions {
  /** A random one where absent. */
  token?: BootstrapToken | undefined
}

export interface TokenPolicy {
  /** Takes a token that could be guessed. */
  allowWeak?: boolean | undefined
}

/** The whole of a wanted token, with kubeadm's defaults. A token that could be guessed is refused. */
export function completeToken(
  {token, ...options}: WantedToken,
  now: Date,
  {allowWeak = false}: TokenPolicy = {},
): BootstrapTokenInfo {
  if (token && !allowWeak) requireStrongToken(token)
  return describeToken(token ?? generateToken(), options, now)
}

/** Stores a new token, as `kubeadm token create`. One whose id is in use is refused, be it the same token or not. */
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
  return new TrustError('ALREADY_EXISTS', `there is a token with the id "${id}" already`, {
    cause,
    facts: {id},
    hints: [
      'leave out the token to create a random one',
      `or delete the other one first with "trustadm token delete ${id}"`,
    ],
  })
}

/** What everybody who hands out such a token should know; undefined if it cannot be used to join. */
export function warningOf({token, usages, expires}: BootstrapTokenInfo): string | undefined {
  if (!usages.authentication) return undefined
  const end = expires ? `until ${expires.toISOString().slice(0, 19)}Z` : 'and does not expire'
  return `token ${token.id} can join machines ${end}; to revoke it, run "trustadm token delete ${token.id}"`
}
