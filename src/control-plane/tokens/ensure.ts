import {isDeepStrictEqual} from 'node:util'
import type {Secret} from '../../api/core.ts'
import {readTokenSecret} from '../../bootstrap/read-token-secret.ts'
import {type BootstrapTokenInfo, listUsages} from '../../bootstrap/token-info.ts'
import {TOKEN_SECRET_NAMESPACE, toSecret, tokenSecretName} from '../../bootstrap/token-secret.ts'
import {isSameSecret} from '../../bootstrap/token.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {completeToken, createToken, idInUse, type TokenPolicy, type WantedToken} from './create.ts'
import {listTokenSecrets} from './list.ts'

type Secrets = Pick<ApiClient, 'secrets'>

/** A token that is about to expire is of no use: it must still be copied to a machine. */
const SHORTEST_REST = 60_000

/** What must be done so that a token exists. */
export type TokenNeed =
  | {change: 'create'; info: BootstrapTokenInfo}
  | {change: 'update'; info: BootstrapTokenInfo; secret: Secret}
  | KeptToken

interface KeptToken {
  change: 'none'
  info: BootstrapTokenInfo
  secret: Secret
}

/**
 * Looks for a wanted token. A named one is kept while it is valid, and renewed if it has expired. A random one of an earlier run with
 * the same purpose is kept too, so that the join command of that run still works.
 */
export async function needOf(
  client: Secrets,
  wanted: WantedToken,
  now: Date,
  policy: TokenPolicy,
): Promise<TokenNeed> {
  const info = completeToken(wanted, now, policy)
  const need = wanted.token
    ? await needOfNamed(client, info, now)
    : await needOfAny(client, info, now)
  return policy.setsLifetime && need.change === 'none' ? withLifetime(need, info) : need
}

/** The token that is there, with the lifetime that is wanted now. */
function withLifetime(kept: KeptToken, {expires}: BootstrapTokenInfo): TokenNeed {
  if (kept.info.expires?.getTime() === expires?.getTime()) return kept
  const {expires: _, ...info} = kept.info
  return {change: 'update', info: {...info, ...(expires && {expires})}, secret: kept.secret}
}

async function needOfNamed(
  {secrets}: Secrets,
  info: BootstrapTokenInfo,
  now: Date,
): Promise<TokenNeed> {
  const {id, secret: wanted} = info.token
  const secret = await secrets.find({
    namespace: TOKEN_SECRET_NAMESPACE,
    name: tokenSecretName(id),
  })
  if (!secret) return {change: 'create', info}
  const found = readTokenSecret(secret, now).info
  if (!found || !isSameSecret(found.token.secret, wanted)) throw idInUse(id)
  return isUsable(secret, info, now)
    ? {change: 'none', info: found, secret}
    : {change: 'update', info, secret}
}

async function needOfAny(client: Secrets, info: BootstrapTokenInfo, now: Date): Promise<TokenNeed> {
  for (const secret of await listTokenSecrets(client)) {
    const found = readTokenSecret(secret, now).info
    if (found?.description === info.description && isUsable(secret, info, now)) {
      return {change: 'none', info: found, secret}
    }
  }
  return {change: 'create', info}
}

/** Whether the Secret is a token with all wanted usages that will not expire soon. */
function isUsable(secret: Secret, {usages, groups}: BootstrapTokenInfo, now: Date): boolean {
  const soon = new Date(now.getTime() + SHORTEST_REST)
  const {info, problems} = readTokenSecret(secret, soon)
  const isBlocked = listUsages(usages).some((usage) =>
    problems.some(({blocks}) => blocks.includes(usage)),
  )
  return info !== undefined && !isBlocked && isDeepStrictEqual([...info.groups].sort(), groups)
}

/** Creates or updates the token. */
export async function meetNeed(client: Secrets, need: TokenNeed): Promise<void> {
  if (need.change === 'create') await createToken(client, need.info)
  if (need.change === 'update') {
    const {data = {}} = toSecret(need.info)
    await client.secrets.update({...need.secret, data})
  }
}
