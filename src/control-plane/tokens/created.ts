import {type BootstrapTokenInfo, listUsages} from '../../bootstrap/token-info.ts'
import {formatToken, hideSecret} from '../../bootstrap/token.ts'
import {formatTimestamp} from '../../runtime.ts'

/** One token that was created. */
export interface CreatedToken {
  id: string
  token: string
  expires: string | null
  usages: string[]
  description: string
  groups: string[]
}

/** What `token create --output json` prints; `token` is the first, and usually the only one. */
export interface CreatedTokens {
  token: string
  joinCommand: string | null
  tokens: CreatedToken[]
  dryRun: boolean
}

/** In a dry run the secrets are hidden: a token that does not exist must not be used. */
export function reportCreated(
  infos: readonly BootstrapTokenInfo[],
  {joinCommand, dryRun}: {joinCommand: string | undefined; dryRun: boolean},
): CreatedTokens {
  const tokens = infos.map(({token, expires, usages, description, groups}) => ({
    id: token.id,
    token: dryRun ? hideSecret(token) : formatToken(token),
    expires: expires ? formatTimestamp(expires) : null,
    usages: listUsages(usages),
    description,
    groups,
  }))
  return {
    token: tokens[0]?.token ?? '',
    joinCommand: dryRun ? null : (joinCommand ?? null),
    tokens,
    dryRun,
  }
}
