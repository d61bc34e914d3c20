import {TOKEN_SECRET_NAMESPACE, tokenSecretName} from '../../bootstrap/token-secret.ts'
import {parseTokenId} from '../../bootstrap/token.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {TrustError, hasCode} from '../../errors.ts'

export interface DeletedTokens {
  /** The ids. */
  deleted: string[]
}

const quoted = (ids: readonly string[]): string => ids.map((id) => `"${id}"`).join(', ')

/** The ids of tokens, given as ids or as whole tokens, without duplicates. */
export const parseTokenIds = (names: readonly string[]): string[] => [
  ...new Set(names.map(parseTokenId)),
]

/** Deletes tokens. If one does not exist, the others are still deleted, and an error is thrown in the end. */
export async function deleteTokens(
  {secrets}: Pick<ApiClient, 'secrets'>,
  ids: readonly string[],
  {dryRun, mayBeMissing = false}: {dryRun?: boolean; mayBeMissing?: boolean} = {},
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
  if (missing.length > 0 && !mayBeMissing) throw noSuchToken(missing, dryRun ? [] : deleted)
  return {deleted}
}

function noSuchToken(missing: readonly string[], deleted: readonly string[]): TrustError {
  const rest = deleted.length === 0 ? '' : `; ${quoted(deleted)} was deleted`
  return new TrustError('NOT_FOUND', `there is no token with the id ${quoted(missing)}${rest}`, {
    facts: {missing, deleted},
    hints: ['list the tokens with "trustadm token list"'],
  })
}
