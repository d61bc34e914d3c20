import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {readTokenSecret} from '../../bootstrap/read-token-secret.ts'
import {TOKEN_SECRET_NAMESPACE, tokenSecretName} from '../../bootstrap/token-secret.ts'
import {TOKEN_USER_PREFIX} from '../../bootstrap/use-token.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {findRecord} from '../../controllers/approval/record-store.ts'
import {callerAddressOf} from '../../csr/caller-address.ts'
import {isOpen} from '../../csr/conditions.ts'
import {nodeUser} from '../../csr/node-names.ts'
import {commonNameIn} from '../../csr/read-request.ts'
import {requestedCertificate} from '../../csr/requested-certificate.ts'
import {KUBELET_CLIENT} from '../../csr/signers.ts'
import {nameOf} from '../../enrollment/outcome.ts'
import {TrustError, hasCode} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'

/** A request for the name of a node that nobody has decided on. */
export interface WaitingRequest {
  name: string
  created: string | null
  requester: string
  /** Where it came from, as far as the server says; null for a server that does not. */
  address: string | null
  /** Of the key that it asks for. */
  pin: string
}

export interface WaitingRequests {
  /** Oldest first. */
  waiting: WaitingRequest[]
  /** The revision of the store at which these were all. */
  revision: string
}

/** A node that renews its own certificate waits for nobody. */
function waitingRequest(csr: CertificateSigningRequest, user: string): WaitingRequest[] {
  const {metadata, spec} = csr
  if (!isOpen(csr) || spec.username === user || commonNameIn(spec.request) !== user) return []
  const requested = requestedCertificate(csr)
  if (requested === undefined) return []
  return [
    {
      name: nameOf(csr),
      created: metadata.creationTimestamp ?? null,
      requester: spec.username ?? '',
      address: callerAddressOf(csr) ?? null,
      pin: requested.pin,
    },
  ]
}

/** Who waits for the name of a node now. */
export async function waitingFor(
  {csrs}: Pick<ApiClient, 'csrs'>,
  node: string,
): Promise<WaitingRequests> {
  const {items, metadata} = await csrs.list({fieldSelector: `spec.signerName=${KUBELET_CLIENT}`})
  const user = nodeUser(node)
  const waiting = items.flatMap((csr) => waitingRequest(csr, user))
  waiting.sort((one, other) => ((one.created ?? '') < (other.created ?? '') ? -1 : 1))
  return {waiting, revision: metadata.resourceVersion ?? ''}
}

const HINTS = [
  'name whose request to let in, as in "--requester system:bootstrap:<token-id>"; "trustadm token list" shows the ids',
  'or run "trustadm join" on the machine first: it prints the command with the pin of its key',
]

/** Whether a requester is a token that nobody can use any more. What the caller may not read is left to the server. */
async function isGone(
  {secrets}: Pick<ApiClient, 'secrets'>,
  requester: string,
  now: Date,
): Promise<boolean> {
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
  client: Pick<ApiClient, 'leases' | 'secrets'>,
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
