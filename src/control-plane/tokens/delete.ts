import {TOKEN_SECRET_NAMESPACE, tokenSecretName} from '../../bootstrap/token-secret.ts'
import {parseTokenId} from '../../bootstrap/token.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {TrustError, hasCode} from '../../errors.ts'

export interface DeletedTokens {
  /** The ids. */
  deleted: string[]
}

const quoted = (ids: readonly string[]): string => ids.map((id) => `"${id}"`).join(', ')

/** The ids of tokens that are named by their ids or as a whole, each once. */
export const parseTokenIds = (names: readonly string[]): string[] => [
  ...new Set(names.map(parseTokenId)),
]

/** Deletes tokens. One that is not there does not keep the others from being deleted, but is an error in the end. */
export async function deleteTokens(
  {secrets}: Pick<ApiClient, 'secrets'>,
  ids: readonly string[],
  {dryRun}: {dryRun?: boolean} = {},
): Promise<DeletedTokens> {
  const deleted: string[] = []
  const missing: string[] = []
  for (const id of ids) {
    const key = {namespace: TOKEN_SECRET_NAMESPACE, name: tokenSecretName(id)}
    try {
      await secrets.delete(key, {dryRun})
      deleted.push(id)
    } catch (error) {
      if (!hasCode(error, 'NOT_FOUND')) throw error
      missing.push(id)
    }
  }
  if (missing.length > 0) throw noSuchToken(missing, dryRun ? [] : deleted)
  return {deleted}
}

function noSuchToken(missing: readonly string[], deleted: readonly string[]): TrustError {
  const rest = deleted.length === 0 ? '' : `; ${quoted(deleted)} was deleted`
  return new TrustError('NOT_FOUND', `there is no token with the id ${quoted(missing)}${rest}`, {
    facts: {missing, deleted},
    hints: ['"trustadm token list" shows those that there are'],
  })
}
