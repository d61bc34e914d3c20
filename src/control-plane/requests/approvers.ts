import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {askAccess} from '../../controllers/approval/access-review.ts'
import {askedBy, type Asked} from '../../controllers/approval/asked.ts'
import {
  CLIENT_APPROVERS,
  clientOpinion,
  type ClientApprover,
  type ClientFacts,
  type Unknown,
} from '../../controllers/approval/client-approvers.ts'
import type {NameClaims} from '../../controllers/approval/name-rule.ts'
import {allHold} from '../../controllers/approval/opinion.ts'
import {findRecord} from '../../controllers/approval/record-store.ts'
import {RequestIndex} from '../../controllers/approval/request-index.ts'
import {KUBELET_CLIENT} from '../../csr/signers.ts'
import {messageOf} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {nameOf} from './explain.ts'
import type {AskApprovers} from './show.ts'

type Client = Pick<ApiClient, 'csrs' | 'leases' | 'nodes' | 'subjectAccessReviews'>

/** Asks the cluster for what the approvers have to know, with the caller's own rights, and applies their rules. */
export const approversOf =
  (client: Client, clock: Clock): AskApprovers =>
  async (csr) => {
    const asked = askedBy(csr)
    if (!asked) return []
    return await Promise.all(
      CLIENT_APPROVERS.map(async (approver) =>
        clientOpinion(approver, csr, asked, await factsFor(client, approver, csr, asked, clock)),
      ),
    )
  }

async function factsFor(
  client: Client,
  approver: ClientApprover,
  csr: CertificateSigningRequest,
  asked: Asked,
  clock: Clock,
): Promise<ClientFacts | undefined> {
  if (!allHold(approver.recognise(csr, asked))) return undefined
  const review = await known(askAccess(client, csr, approver.name))
  if (!approver.guardsNames) return {now: clock.now(), review}
  return {now: clock.now(), review, claims: await known(claimsOn(client, csr, asked.node ?? ''))}
}

async function claimsOn(
  client: Client,
  csr: CertificateSigningRequest,
  node: string,
): Promise<NameClaims> {
  const index = new RequestIndex(client.csrs, KUBELET_CLIENT)
  const select = {fieldSelector: `spec.signerName=${KUBELET_CLIENT}`}
  const [found, record, {items}] = await Promise.all([
    client.nodes.find({name: node}),
    findRecord(client, node),
    client.csrs.list(select),
  ])
  for (const one of items) index.see(nameOf(one), one)
  return {nodeExists: found !== undefined, record, approved: index.approvedFor(node, nameOf(csr))}
}

/** Whoever may look at requests need not be allowed to find out everything. */
async function known<T extends object>(fact: Promise<T>): Promise<T | Unknown> {
  try {
    return await fact
  } catch (error) {
    return {unknown: messageOf(error)}
  }
}
