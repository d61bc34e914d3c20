import type {CertificateSigningRequest} from '../api/certificates.ts'
import {NODES} from './node-names.ts'
import {verdict, type RuleVerdict} from './opinion.ts'
import {requestVerdicts} from './request-rules.ts'
import type {RequestedCertificate} from './requested-certificate.ts'
import {KUBELET_CLIENT, KUBELET_SERVING, SIGNER_RULES, type WellKnownSigner} from './signers.ts'

/** The subresource of certificatesigningrequests that one must be allowed to create. */
export type Permission = 'selfnodeclient' | 'nodeclient'

/** Whose requests an approver knows, by the request and its requester alone; they have the shape that the signer asks for. */
export interface Approver {
  name: string
  signer: WellKnownSigner
  /** Of the condition. */
  message: string
  /** Whether the requester must be the user that the certificate is for. */
  requesterIsSubject?: true
  /** All of which the requester must be in. */
  requesterGroups?: readonly string[]
  /** How many alternative names there may be: each costs a look at what others have. */
  mostNames?: number
}

/** One of Kubernetes' recognisers: it approves what a SubjectAccessReview allows. */
export interface ClientApprover extends Approver {
  name: Permission
  /** Whether the requester has yet to show that the node's name is theirs to take. */
  guardsNames: boolean
}

/** In the order in which they are tried. */
export const CLIENT_APPROVERS: readonly ClientApprover[] = [
  {
    name: 'selfnodeclient',
    signer: KUBELET_CLIENT,
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
    requesterIsSubject: true,
    guardsNames: false,
  },
  {
    name: 'nodeclient',
    signer: KUBELET_CLIENT,
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    guardsNames: true,
  },
]

export const SERVING_APPROVER: Approver = {
  name: 'kubelet-serving',
  signer: KUBELET_SERVING,
  message:
    'Approving kubelet serving certificate: every name and address in it is known to be the node’s.',
  requesterIsSubject: true,
  requesterGroups: [NODES, 'system:authenticated'],
  mostNames: 64,
}

type Csr = Pick<CertificateSigningRequest, 'spec'>

function requesterVerdicts(
  {requesterIsSubject, requesterGroups}: Approver,
  {username = '', groups = []}: Csr['spec'],
  {commonName}: RequestedCertificate,
): RuleVerdict[] {
  const verdicts: RuleVerdict[] = []
  if (requesterIsSubject) {
    const found = `"${username}" asks for "${commonName}"`
    const rule = "the common name is the requester's"
    verdicts.push(verdict('requester-is-subject', rule, username === commonName, found))
  }
  if (requesterGroups) {
    verdicts.push(
      verdict(
        'requester-groups',
        `the requester is in the groups ${requesterGroups.join(' and ')}`,
        requesterGroups.every((group) => groups.includes(group)),
        `the requester's groups are ${groups.join(', ') || 'none'}`,
      ),
    )
  }
  return verdicts
}

function countVerdict({names: {dns, ips}}: RequestedCertificate, most: number): RuleVerdict {
  const count = dns.length + ips.length
  return verdict(
    'name-count',
    `there are at most ${most} names and addresses`,
    count <= most,
    `it asks for ${count} names and addresses, more than ${most}`,
  )
}

/** What an approver finds in the request itself, before it looks at the cluster. The first verdict is that on the signer. */
export function recognise(
  approver: Approver,
  {spec}: Csr,
  requested: RequestedCertificate,
): [signer: RuleVerdict, ...others: RuleVerdict[]] {
  const {signer, mostNames} = approver
  return [
    verdict(
      'signer',
      `the signer is ${signer}`,
      requested.signer === signer,
      `the signer is "${requested.signer}"`,
    ),
    ...requestVerdicts(requested, SIGNER_RULES[signer]),
    ...requesterVerdicts(approver, spec, requested),
    ...(mostNames === undefined ? [] : [countVerdict(requested, mostNames)]),
  ]
}
