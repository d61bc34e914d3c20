import {mkdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {TokenRequest} from '../src/api/authentication.ts'
import {DEFAULT_NODE_GROUP} from '../src/bootstrap/token-info.ts'
import {generateToken} from '../src/bootstrap/generate-token.ts'
import {toSecret} from '../src/bootstrap/token-secret.ts'
import {formatToken} from '../src/bootstrap/token.ts'
import type {ApiClient} from '../src/client/api-client.ts'
import type {Cluster} from '../test/helpers/cluster.ts'
import type {Holdings} from './attack.ts'
import {joined} from '../test/helpers/joined.ts'

const NODES = 5
const HOUR = 3_600_000
const NAMESPACE = 'tenant'

/** Hands out what attackers begin with: a token of their own, the nodes it brings, and a tenant's namespace. */
export async function gatherHoldings(
  cluster: Cluster,
  admin: ApiClient,
  folder: string,
  victims: string[],
): Promise<Holdings> {
  await mkdir(folder, {recursive: true})
  const token = await createToken(admin)
  const nodes = []
  for (let number = 0; number < NODES; number++)
    nodes.push(await joined(cluster, token, folder, `attacker-${number}`))
  return {
    port: Number(new URL(cluster.endpoint).port),
    ca: await readFile(join(cluster.dir, 'pki', 'ca.crt'), 'utf8'),
    bootstrap: {name: 'bootstrap', token},
    nodes,
    tenant: {name: 'tenant', token: await createTenant(admin)},
    namespace: NAMESPACE,
    victims,
  }
}

async function createToken(admin: ApiClient): Promise<string> {
  const token = generateToken()
  await admin.secrets.create(
    toSecret({
      token,
      description: 'an installer lost it',
      expires: new Date(Date.now() + HOUR),
      usages: {signing: true, authentication: true},
      groups: [DEFAULT_NODE_GROUP],
    }),
  )
  return formatToken(token)
}

async function createTenant(admin: ApiClient): Promise<string> {
  const account = {name: 'tenant', namespace: NAMESPACE}
  await admin.namespaces.create({metadata: {name: NAMESPACE}})
  await admin.serviceAccounts.create({metadata: account})
  await admin.roleBindings.create({
    metadata: account,
    roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit'},
    subjects: [
      {kind: 'ServiceAccount', ...account},
      // So that the tenant can make accounts that may do the same, and delete them.
      {
        kind: 'Group',
        name: `system:serviceaccounts:${NAMESPACE}`,
        apiGroup: 'rbac.authorization.k8s.io',
      },
    ],
  })
  const request: TokenRequest = {metadata: {}, spec: {expirationSeconds: 3600}}
  const answer = await admin.serviceAccounts.createSubresource(account, 'token', request)
  if (answer.status === undefined) throw new Error('the tenant got no token')
  return answer.status.token
}
