import {TrustError} from '../errors.ts'
import type {BootstrapToken} from './token.ts'

/** What a token is for: signing cluster-info, authenticating a machine that joins. */
interface TokenUsages {
  signing: boolean
  authentication: boolean
}

export type TokenUsage = keyof TokenUsages

/** In the order kubeadm prints them. */
export const TOKEN_USAGES: readonly TokenUsage[] = ['authentication', 'signing']

const isUsage = (name: string): name is TokenUsage => TOKEN_USAGES.some((usage) => usage === name)

/** Reads names of usages, as in `--usages`; a token may have none, to be enabled later. */
export function parseUsages(names: readonly string[]): TokenUsages {
  const unknown = names.find((name) => !isUsage(name))
  if (unknown !== undefined) {
    throw new TrustError('USAGE', `a token has no usage ${JSON.stringify(unknown)}`, {
      hints: ['the usages are "signing" and "authentication"'],
    })
  }
  return {signing: names.includes('signing'), authentication: names.includes('authentication')}
}

export const listUsages = (usages: TokenUsages): TokenUsage[] =>
  TOKEN_USAGES.filter((usage) => usages[usage])

/** Every bootstrap token is in this group. */
export const BOOTSTRAPPERS_GROUP = 'system:bootstrappers'
/** The group that kubeadm's RBAC lets join nodes. */
export const DEFAULT_NODE_GROUP = 'system:bootstrappers:kubeadm:default-node-token'

const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

export const isBootstrapGroup = (name: string): boolean => GROUP.test(name)

/** The groups of a comma-separated list, without duplicates; not checked. */
export function splitGroups(list: string): string[] {
  return list === '' ? [] : [...new Set(list.split(','))]
}

/** The groups for a new token, sorted and without duplicates; refuses groups that no token may have. */
export function requireGroups(names: readonly string[]): string[] {
  for (const name of names) {
    if (isBootstrapGroup(name)) continue
    throw new TrustError('USAGE', `a token cannot be in the group ${JSON.stringify(name)}`, {
      hints: [
        'a group is "system:bootstrappers:" followed by up to 256 characters of a-z, 0-9, ":" and "-", ending in a letter or digit',
      ],
    })
  }
  return [...new Set(names)].sort()
}

/** All groups of a token's user, in Kubernetes' order; undefined if one of them is not allowed. */
export function groupsOfUser(extra: readonly string[]): string[] | undefined {
  return extra.every(isBootstrapGroup)
    ? [...new Set([BOOTSTRAPPERS_GROUP, ...extra])].sort()
    : undefined
}

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
