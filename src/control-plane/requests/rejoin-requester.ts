import {TOKEN_SECRET_NAMESPACE, tokenSecretName} from '../../bootstrap/token-secret.ts'
import {readTokenSecret} from '../../bootstrap/read-token-secret.ts'
import {TOKEN_USER_PREFIX} from '../../bootstrap/use-token.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {findRecord} from '../../controllers/approval/record-store.ts'
import {TrustError, hasCode} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'

type Client = Pick<ApiClient, 'leases' | 'secrets'>

const HINTS = [
  'name whose request to let in, as in "--requester system:bootstrap:<token-id>"; "trustadm token list" shows the ids',
  'or run "trustadm join" on the machine first: it prints the command with the pin of its key',
]

/** Whether a requester is a token that nobody can use any more. What the caller may not read is left to the server. */
async function isGone({secrets}: Client, requester: string, now: Date): Promise<boolean> {
  if (!requester.startsWith(TOKEN_USER_PREFIX)) return false
  const name = tokenSecretName(requester.slice(TOKEN_USER_PREFIX.length))
  try {
    const secret = await secrets.find({namespace: TOKEN_SECRET_NAMESPACE, name})
    if (secret === undefined) return true
    return readTokenSecret(secret, now).problems.some(({blocks}) =>
      blocks.includes('authentication'),
    )
  } catch (error) {
    if (hasCode(error, 'FORBIDDEN')) return false
    throw error
  }
}

/** Who asked for the name before: only they are let in without being named. */
export async function requireRequester(
  client: Client,
  node: string,
  clock: Clock,
): Promise<string> {
  const {requester} = (await findRecord(client, node)) ?? {}
  if (requester === undefined) {
    throw new TrustError('USAGE', `nobody is known to have asked for the name "${node}" before`, {
      hints: HINTS,
    })
  }
  if (!(await isGone(client, requester, clock.now()))) return requester
  throw new TrustError(
    'USAGE',
    `"${requester}" asked for the name "${node}" before, and its token is no longer valid`,
    {facts: {node, requester}, hints: HINTS},
  )
}
