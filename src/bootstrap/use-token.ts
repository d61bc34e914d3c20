import type {Secret} from '../api/core.ts'
import type {UserInfo} from '../api/meta.ts'
import {groupsOfUser} from './groups.ts'
import {readTokenSecret, type TokenVerdict} from './read-token-secret.ts'
import {isSameSecret, isToken, formatToken, type BootstrapToken} from './token.ts'
import type {TokenUsage} from './usages.ts'

export const TOKEN_USER_PREFIX = 'system:bootstrap:'

/** The token in a Secret, if it may sign cluster-info. As Kubernetes' bootstrap signer decides. */
export function signingToken(secret: Secret, now: Date): BootstrapToken | undefined {
  const verdict = readTokenSecret(secret, now)
  return isBlocked(verdict, 'signing') ? undefined : verdict.info?.token
}

export const isUsableForSigning = (secret: Secret, now: Date): boolean =>
  signingToken(secret, now) !== undefined

/**
 * The user of a presented token, from the Secret of its id. The groups are sorted; the caller adds `system:authenticated`.
 * Undefined if the token is not accepted, for whatever reason.
 */
export function authenticatesAs(
  secret: Secret,
  presented: BootstrapToken,
  now: Date,
): UserInfo | undefined {
  const verdict = readTokenSecret(secret, now)
  const {info} = verdict
  if (!info || isBlocked(verdict, 'authentication') || !isToken(formatToken(presented))) {
    return undefined
  }
  const {token} = info
  if (token.id !== presented.id || !isSameSecret(token.secret, presented.secret)) return undefined
  const groups = groupsOfUser(info.groups)
  return groups && {username: TOKEN_USER_PREFIX + token.id, groups}
}

/** When the token of a Secret expires; undefined for never. */
export const expirationOf = (secret: Secret, now: Date): Date | undefined =>
  readTokenSecret(secret, now).info?.expires

function isBlocked({problems}: TokenVerdict, usage: TokenUsage): boolean {
  return problems.some(({blocks}) => blocks.includes(usage))
}
