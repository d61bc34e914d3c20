import type {UserInfo} from '../../api/meta.ts'
import {BOOTSTRAPPERS_GROUP, DEFAULT_NODE_GROUP} from '../../bootstrap/token-info.ts'
import {readTokenSecret} from '../../bootstrap/read-token-secret.ts'
import {TOKEN_SECRET_NAMESPACE, tokenSecretName} from '../../bootstrap/token-secret.ts'
import {parseTokenId} from '../../bootstrap/token.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {printable} from '../../client/printable.ts'
import {
  readCredentials,
  type BootstrapCredential,
} from '../../controllers/approval/bootstrap-credentials.ts'
import {
  BOOTSTRAPPER_NAMESPACES,
  bootstrapperGroups,
  bootstrapperUser,
} from '../../csr/bootstrapper.ts'
import {CREDENTIAL_ID} from '../../csr/user-extra.ts'
import {TrustError} from '../../errors.ts'

/** With what a machine would ask; absent: every way there is. */
export interface AskedWith {
  tokenId?: string | undefined
  credential?: string | undefined
}

/** Who asks, and what is wrong with the means to do so. */
export interface Asker {
  by: string
  user: UserInfo
  problems: string[]
}

const AUTHENTICATED = 'system:authenticated'

const tokenUser = (id: string, groups: readonly string[]): UserInfo => ({
  username: `system:bootstrap:${id}`,
  groups: [BOOTSTRAPPERS_GROUP, ...groups, AUTHENTICATED],
})

async function tokenAsker(client: ApiClient, text: string, now: Date): Promise<Asker> {
  const id = parseTokenId(text)
  const key = {namespace: TOKEN_SECRET_NAMESPACE, name: tokenSecretName(id)}
  const secret = await client.secrets.find(key)
  const {info, problems} = secret ? readTokenSecret(secret, now) : {problems: []}
  const blocking = problems
    .filter(({blocks}) => blocks.includes('authentication'))
    .map(({message}) => message)
  return {
    by: `token ${id}`,
    user: tokenUser(id, info?.groups ?? []),
    problems: secret ? blocking : ['there is no such token'],
  }
}

const credentialAsker = ({id, namespace, credential}: BootstrapCredential): Asker => ({
  by: `credential ${id}`,
  user: {
    username: bootstrapperUser(namespace),
    groups: [...bootstrapperGroups(namespace), AUTHENTICATED],
    ...(credential !== null && {extra: {[CREDENTIAL_ID]: [credential]}}),
  },
  problems: [],
})

async function credentialAskers(client: ApiClient): Promise<Asker[]> {
  const found = await Promise.all(
    BOOTSTRAPPER_NAMESPACES.map((namespace) => readCredentials(client, namespace)),
  )
  return found.flat().map(credentialAsker)
}

/** Who would ask. */
export async function askersOf(
  client: ApiClient,
  {tokenId, credential}: AskedWith,
  now: Date,
): Promise<Asker[]> {
  if (tokenId !== undefined) return [await tokenAsker(client, tokenId, now)]
  const credentials = await credentialAskers(client)
  if (credential === undefined) {
    const user = tokenUser('000000', [DEFAULT_NODE_GROUP])
    return [{by: 'a token of the default group', user, problems: []}, ...credentials]
  }
  const named = credentials.filter(({by}) => by === `credential ${credential}`)
  if (named.length > 0) return named
  throw new TrustError(
    'NOT_FOUND',
    `there is no live bootstrap credential "${printable(credential).slice(0, 64)}"`,
    {hints: ['list them with "trustadm bootstrap-credential list"']},
  )
}
