import {TrustError} from '../errors.ts'

/** What a token is for: signing cluster-info, authenticating a machine that joins. */
export interface TokenUsages {
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
