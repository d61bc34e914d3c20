import {TrustError} from '../errors.ts'
import {DEFAULT_NODE_GROUP, requireGroups} from './groups.ts'
import type {BootstrapToken} from './token.ts'
import type {TokenUsages} from './usages.ts'

/** A token and what is known of it. */
export interface BootstrapTokenInfo {
  token: BootstrapToken
  description: string
  /** Absent where it never expires. */
  expires?: Date
  usages: TokenUsages
  /** The groups beside `system:bootstrappers`. */
  groups: string[]
}

export const DEFAULT_TOKEN_TTL = 86_400_000
const FOR_EVERYTHING: TokenUsages = {signing: true, authentication: true}

export interface NewTokenOptions {
  description?: string | undefined
  /** In milliseconds; 0 for no expiry. */
  ttl?: number | undefined
  /** Wins over `ttl`, as in kubeadm. */
  expires?: Date | undefined
  usages?: TokenUsages | undefined
  groups?: readonly string[] | undefined
}

/** What `kubeadm token create` would make of these options: for a day, for both usages, for nodes that join. */
export function describeToken(
  token: BootstrapToken,
  options: NewTokenOptions,
  now: Date,
): BootstrapTokenInfo {
  const {description = '', ttl = DEFAULT_TOKEN_TTL, usages = FOR_EVERYTHING} = options
  const expires = options.expires ?? expiryAfter(ttl, now)
  return {
    token,
    description,
    ...(expires && {expires: inWholeSeconds(expires)}),
    usages,
    groups: groupsFor(usages, options.groups),
  }
}

function groupsFor(usages: TokenUsages, groups: readonly string[] | undefined): string[] {
  if (usages.authentication) return requireGroups(groups ?? [DEFAULT_NODE_GROUP])
  if (groups === undefined || groups.length === 0) return []
  throw new TrustError('USAGE', 'groups are for tokens that authenticate, and this one does not', {
    hints: ['add the usage "authentication", or leave the groups out'],
  })
}

function expiryAfter(ttl: number, now: Date): Date | undefined {
  if (ttl === 0) return undefined
  const expires = new Date(now.getTime() + ttl)
  // RFC 3339 has four digits for the year: one with five would read as expired at once.
  if (ttl > 0 && expires.getUTCFullYear() <= 9999) return expires
  throw new TrustError(
    'USAGE',
    'the token would expire before it is made, or after the year 9999',
    {
      hints: ['write the time span as in "24h"; 0 for no expiry'],
    },
  )
}

/** The form it is stored in has no more. */
const inWholeSeconds = (time: Date): Date => new Date(Math.floor(time.getTime() / 1000) * 1000)
