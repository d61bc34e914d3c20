import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {callerAddressOf} from '../../csr/caller-address.ts'
import {isOpen} from '../../csr/conditions.ts'
import {nodeUser} from '../../csr/node-names.ts'
import {commonNameIn} from '../../csr/read-request.ts'
import {requestedCertificate} from '../../csr/requested-certificate.ts'
import {KUBELET_CLIENT} from '../../csr/signers.ts'
import {nameOf} from '../../enrollment/outcome.ts'

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
