import {TOKEN_SECRET_NAMESPACE, tokenSecretName} from '../../bootstrap/token-secret.ts'
import {readTokenSecret} from '../../bootstrap/read-token-secret.ts'
import {isSameSecret, isToken, parseToken, parseTokenId} from '../../bootstrap/token.ts'
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

/**
 * Refuses whole tokens whose secret is not the stored one, before anything is deleted: whoever gives one means that token, and no
 * other with the same id. A token that does not exist is left to the caller.
 */
export async function requireSameTokens(
  {secrets}: Pick<ApiClient, 'secrets'>,
  names: readonly string[],
  now: Date,
): Promise<void> {
  const wrong: string[] = []
  for (const {id, secret} of names.filter(isToken).map(parseToken)) {
    const key = {namespace: TOKEN_SECRET_NAMESPACE, name: tokenSecretName(id)}
    const stored = await secrets.find(key)
    const found = stored && readTokenSecret(stored, now).info
    if (stored && !(found && isSameSecret(found.token.secret, secret))) wrong.push(id)
  }
  if (wrong.length > 0) throw otherToken(wrong)
}

function otherToken(ids: readonly string[]): TrustError {
  const [first = ''] = ids
  return new TrustError(
    'CONFLICT',
    `the cluster has another token with the id ${quoted(ids)}: nothing was deleted`,
    {
      facts: {ids},
      hints: [
        'check that the token was copied completely, and that this is the right cluster',
        `to delete the token of this cluster, give its id alone: "trustadm token delete ${first}"`,
      ],
    },
  )
}

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
