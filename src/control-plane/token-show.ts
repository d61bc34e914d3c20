import {TOKEN_USER_PREFIX} from '../bootstrap/read-token-secret.ts'
import type {ApiClient} from '../client/api-client.ts'
import {isOpen} from '../csr/conditions.ts'
import {TrustError} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import type {Warn} from '../controllers/signing/read-log.ts'
import {obtainedBy, type Obtained} from './issuances.ts'
import {listTokens, type TokenReport} from './tokens/list.ts'

/** A bootstrap token, and what was obtained with it. */
export interface TokenDetails {
  id: string
  /** Null once the token is deleted. Its secret is never shown. */
  token: TokenReport | null
  /** When a machine last asked for a certificate with it; null if that is not known. */
  lastUsed: string | null
  /** The names of its requests that wait. */
  pending: string[]
  /** Which machines joined with it; null without an issuance log. */
  obtained: Obtained | null
}

const newest = (times: readonly string[]): string | null => [...times].sort().at(-1) ?? null

/** A token by its id, also one that is gone, if machines joined with it. */
export async function showToken(
  client: Pick<ApiClient, 'secrets' | 'csrs'>,
  id: string,
  {log, warn, clock}: {log: string | undefined; warn: Warn; clock: Clock},
): Promise<TokenDetails> {
  const {tokens} = await listTokens(client, {showSecrets: false, warn: () => undefined}, clock)
  const token = tokens.find((one) => one.id === id) ?? null
  const {items} = await client.csrs.list()
  const requests = items.filter(({spec}) => spec.username === `${TOKEN_USER_PREFIX}${id}`)
  const obtained = log === undefined ? null : await obtainedBy(log, {tokenId: id}, warn)
  const used = obtained?.certificates.filter(({by}) => by === 'credential') ?? []
  if (token === null && requests.length === 0 && used.length === 0) {
    throw new TrustError('NOT_FOUND', `there is no token with the id "${id}"`, {
      facts: {missing: [id]},
      hints: ['list the tokens with "trustadm token list"'],
    })
  }
  return {
    id,
    token,
    lastUsed: newest([
      ...used.map(({time}) => time),
      ...requests.flatMap(({metadata}) => metadata.creationTimestamp ?? []),
    ]),
    pending: requests.filter(isOpen).map(({metadata}) => metadata.name ?? ''),
    obtained,
  }
}
