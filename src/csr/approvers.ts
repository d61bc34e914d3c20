import type {CertificateSigningRequest} from '../api/certificates.ts'
import {bootstrapperGroups, bootstrapperNamespaceOf} from './bootstrapper.ts'
import {NODES, nodeOfUser} from './node-names.ts'
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
  /** Whether the requester must be the bootstrapper of a fleet, in its groups and no others. */
  requesterIsBootstrapper?: true
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

/** Approves the first certificate of a machine that is expected: see `machineOpinion`. */
export const MACHINE_APPROVER: Approver = {
  name: 'machine-approver',
  signer: KUBELET_CLIENT,
  message: 'Approving kubelet client certificate of an expected Machine that has no node yet.',
  requesterIsBootstrapper: true,
}

type Csr = Pick<CertificateSigningRequest, 'spec'>

const foundGroups = (groups: readonly string[]) =>
  `the requester's groups are ${groups.join(', ') || 'none'}`

/** A node that has a certificate renews it by itself; everyone else needs a person. */
function bootstrapperVerdicts({username = '', groups = []}: Csr['spec']): RuleVerdict[] {
  const namespace = bootstrapperNamespaceOf(username)
  const requester = `the requester is "${username}"`
  const verdicts = [
    verdict(
      'requester-is-no-node',
      'it is not a renewal by a node',
      nodeOfUser(username) === undefined,
      requester,
    ),
    verdict(
      'requester-is-bootstrapper',
      'the requester is the node-bootstrapper',
      namespace !== undefined,
      requester,
    ),
  ]
  if (namespace === undefined) return verdicts
  const wanted = [...bootstrapperGroups(namespace), 'system:authenticated']
  const isExact =
    new Set(groups).size === wanted.length && wanted.every((group) => groups.includes(group))
  const rule = `the requester's groups are ${wanted.join(', ')}, and no others`
  return [...verdicts, verdict('requester-groups', rule, isExact, foundGroups(groups))]
}

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
        foundGroups(groups),
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
  const {signer, mostNames, requesterIsBootstrapper} = approver
  return [
    verdict(
      'signer',
      `the signer is ${signer}`,
      requested.signer === signer,
      `the signer is "${requested.signer}"`,
    ),
    ...requestVerdicts(requested, SIGNER_RULES[signer]),
    ...requesterVerdicts(approver, spec, requested),
    ...(requesterIsBootstrapper ? bootstrapperVerdicts(spec) : []),
    ...(mostNames === undefined ? [] : [countVerdict(requested, mostNames)]),
  ]
}
