import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {readTokenSecret, TOKEN_USER_PREFIX} from '../../bootstrap/read-token-secret.ts'
import {TOKEN_SECRET_NAMESPACE, tokenSecretName} from '../../bootstrap/token-secret.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {findRecord} from '../../controllers/approval/record-store.ts'
import {callerAddressOf} from '../../csr/user-extra.ts'
import {isOpen} from '../../csr/conditions.ts'
import {nodeUser} from '../../csr/node-names.ts'
import {commonNameIn} from '../../csr/read-request.ts'
import {requestedCertificate} from '../../csr/requested-certificate.ts'
import {KUBELET_CLIENT} from '../../csr/signers.ts'
import {nameOf} from '../../enrollment/outcome.ts'
import {elsewhere, hasCode, TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'

/** A pending request for the name of a node. */
export interface WaitingRequest {
  name: string
  created: string | null
  requester: string
  /** The address it came from; null if the server does not record it. */
  address: string | null
  /** The pin of its key. */
  pin: string
}

export interface WaitingRequests {
  /** Oldest first. */
  waiting: WaitingRequest[]
  /** The revision of the store at which the list was complete. */
  revision: string
}

/** A node that renews its own certificate does not wait for anyone. */
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
  'name the requester, as in "--requester system:bootstrap:<token-id>"; to list the ids, run "trustadm token list"',
  elsewhere(
    'or run "trustadm join" on the machine first: it prints the command with the pin of its key',
  ),
]

/** Whether a requester is a token that is no longer valid. If the caller may not read it, the server decides. */
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

/** Who requested the name before: the only requester that need not be named. */
export async function requireRequester(
  client: Pick<ApiClient, 'configMaps' | 'secrets'>,
  node: string,
  clock: Clock,
): Promise<string> {
  const {requester} = (await findRecord(client, node)) ?? {}
  if (requester === undefined) {
    throw new TrustError('USAGE', `it is not known who requested the name "${node}" before`, {
      hints: HINTS,
    })
  }
  if (!(await isGone(client, requester, clock.now()))) return requester
  throw new TrustError(
    'USAGE',
    `"${requester}" requested the name "${node}" before, but its token is no longer valid`,
    {facts: {node, requester}, hints: HINTS},
  )
}
