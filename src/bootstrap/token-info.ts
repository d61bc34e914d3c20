import {TrustError} from '../errors.ts'
import {DEFAULT_NODE_GROUP, requireGroups} from './groups.ts'
import type {BootstrapToken} from './token.ts'
import type {TokenUsages} from './usages.ts'

/** A token and what is known about it. */
export interface BootstrapTokenInfo {
  token: BootstrapToken
  description: string
  /** Absent if it never expires. */
  expires?: Date
  usages: TokenUsages
  /** The groups other than `system:bootstrappers`. */
  groups: string[]
}

export const DEFAULT_TOKEN_TTL = 86_400_000
const FOR_EVERYTHING: TokenUsages = {signing: true, authentication: true}

export interface NewTokenOptions {
  description?: string | undefined
  /** In milliseconds; 0 for no expiry. */
  ttl?: number | undefined
  /** Overrides `ttl`, as in kubeadm. */
  expires?: Date | undefined
  usages?: TokenUsages | undefined
  groups?: readonly string[] | undefined
}

/** The defaults of `kubeadm token create`: for a day, for both usages, for nodes that join. */
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
  throw new TrustError('USAGE', 'only a token for authentication can have groups', {
    hints: ['add the usage "authentication", or leave out the groups'],
  })
}

function expiryAfter(ttl: number, now: Date): Date | undefined {
  if (ttl === 0) return undefined
  const expires = new Date(now.getTime() + ttl)
  // RFC 3339 has four digits for the year: with five, the token would count as expired at once.
  if (ttl > 0 && expires.getUTCFullYear() <= 9999) return expires
  throw new TrustError('USAGE', 'the token would expire in the past, or after the year 9999', {
    hints: ['use a duration such as "24h"; 0 for no expiry'],
  })
}

/** The stored form has whole seconds. */
const inWholeSeconds = (time: Date): Date => new Date(Math.floor(time.getTime() / 1000) * 1000)
