import type {Secret} from '../../api/core.ts'
import {
  expirationOf,
  readTokenSecret,
  type TokenProblem,
} from '../../bootstrap/read-token-secret.ts'
import {type BootstrapTokenInfo, listUsages} from '../../bootstrap/token-info.ts'
import {TOKEN_SECRET_NAMESPACE, TOKEN_SECRET_TYPE} from '../../bootstrap/token-secret.ts'
import {formatToken, hideSecret, isTokenSecret} from '../../bootstrap/token.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'

/** A token, as `token list` shows it. */
export interface TokenReport {
  id: string
  /** With its secret hidden, unless requested. */
  token: string
  /** Null if it never expires. */
  expires: string | null
  /** Whole seconds; negative once it has expired. */
  ttlSeconds: number | null
  usages: string[]
  description: string
  groups: string[]
  created: string | null
  /** Why it cannot be used for all of its usages. */
  problems: string[]
}

export interface TokenList {
  tokens: TokenReport[]
}

export interface ListTokensOptions {
  showSecrets: boolean
  /** Called for each Secret that should be a token but is not valid. Never with a value of it. */
  warn: (line: string) => void
}

/** All token Secrets, valid or not. */
export async function listTokenSecrets({secrets}: Pick<ApiClient, 'secrets'>): Promise<Secret[]> {
  const {items} = await secrets.list({
    namespace: TOKEN_SECRET_NAMESPACE,
    fieldSelector: `type=${TOKEN_SECRET_TYPE}`,
  })
  return items
}

/** All tokens, as `kubeadm token list`: invalid Secrets are skipped and reported. */
export async function listTokens(
  client: Pick<ApiClient, 'secrets'>,
  {showSecrets, warn}: ListTokensOptions,
  clock: Clock,
): Promise<TokenList> {
  const now = clock.now()
  const tokens: TokenReport[] = []
  for (const secret of await listTokenSecrets(client)) {
    const {info, problems} = readTokenSecret(secret, now)
    const reasons = problems.filter(isProblemOf(info)).map(({message}) => message)
    if (info && isReadable(secret, info)) tokens.push(reportOf(info))
    else {
      const why = problems.map(({message}) => message).join('; ')
      warn(`the Secret ${nameOf(secret)} is not a valid token: ${why}`)
    }

    function reportOf({token, expires, usages, description, groups}: BootstrapTokenInfo) {
      return {
        id: token.id,
        token: showSecrets ? formatToken(token) : hideSecret(token),
        expires: expires ? formatTimestamp(expires) : null,
        ttlSeconds: expires ? Math.floor((expires.getTime() - now.getTime()) / 1000) : null,
        usages: listUsages(usages),
        description,
        groups,
        created: secret.metadata.creationTimestamp ?? null,
        problems: reasons,
      }
    }
  }
  return {tokens}
}

/** A usage that a token was not made for is no problem of it, unless it has none at all. */
const isProblemOf =
  (info: BootstrapTokenInfo | undefined) =>
  ({blocks}: TokenProblem): boolean => {
    const usages = info ? listUsages(info.usages) : []
    return usages.length === 0 || blocks.some((usage) => usages.includes(usage))
  }

const nameOf = ({metadata}: Secret): string =>
  `${metadata.namespace ?? TOKEN_SECRET_NAMESPACE}/${metadata.name ?? ''}`

/** As in kubeadm: a malformed secret or expiration makes it invalid. */
const isReadable = (secret: Secret, {token}: BootstrapTokenInfo): boolean =>
  isTokenSecret(token.secret) && expirationOf(secret)?.getTime() !== 0
