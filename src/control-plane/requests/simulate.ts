import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {UserInfo} from '../../api/meta.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {approverOpinions} from '../../controllers/approval/opinions.ts'
import {CLIENT_APPROVERS} from '../../csr/approvers.ts'
import {NODES, isNodeName, nodeUser} from '../../csr/node-names.ts'
import {allHold, type ApproverOpinion, type RuleCode} from '../../csr/opinion.ts'
import {KUBELET_CLIENT} from '../../csr/signers.ts'
import {TrustError} from '../../errors.ts'
import {createRequest} from '../../pki/create.ts'
import {generateKeys} from '../../pki/keys.ts'
import {NO_NAMES} from '../../pki/subject-names.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import {MANAGER, managerApproves} from './kube-controller-manager.ts'
import {askersOf, type AskedWith, type Asker} from './simulated-askers.ts'

/** Later than every request and every grant that exists. */
const LATEST = '9'.repeat(20)

/** What would happen to a machine that asks in one way. */
export interface SimulatedWay {
  /** `token <id>`, `a token of the default group`, `credential <id>`. */
  by: string
  requester: string
  groups: string[]
  outcome: 'approved' | 'held' | 'refused'
  /** Who has the name that it would take over, as kube-controller-manager lets anyone do; null if nobody has. */
  takesOver: string | null
  /** Why the server would not even take the request. */
  problems: string[]
  approvers: ApproverOpinion[]
}

export interface Simulation {
  node: string
  ways: SimulatedWay[]
}

async function mayAsk(client: ApiClient, {username, groups}: UserInfo): Promise<boolean> {
  const {status} = await client.subjectAccessReviews.create({
    metadata: {},
    spec: {
      user: username,
      groups,
      resourceAttributes: {
        group: 'certificates.k8s.io',
        resource: 'certificatesigningrequests',
        verb: 'create',
      },
    },
  })
  return status?.allowed === true
}

/** As a kubelet asks for its first certificate, with a key that nobody has. */
async function requestFor(node: string, now: Date): Promise<CertificateSigningRequest> {
  const subject = {commonName: nodeUser(node), organizations: [NODES]}
  const pem = await createRequest(subject, await generateKeys(), NO_NAMES)
  return {
    metadata: {creationTimestamp: formatTimestamp(now), resourceVersion: LATEST},
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: KUBELET_CLIENT,
      usages: ['digital signature', 'client auth'],
    },
  }
}

/** Kubernetes' own rules: none of them is about who has the name. */
const RULES_OF_KUBERNETES: readonly RuleCode[] = [
  'readable',
  'signer',
  'organizations',
  'common-name',
  'names',
  'usages',
  'requester-is-subject',
  'access',
]

/** What kube-controller-manager thinks of it, where that approves; the others stay as they are. */
function byManager({approver, decision, rules}: ApproverOpinion): ApproverOpinion {
  const theirs = rules.filter(({code}) => RULES_OF_KUBERNETES.includes(code))
  const named = {approver: `${approver} of ${MANAGER}`, rules: theirs}
  if (decision === 'ignore') return {...named, decision}
  return allHold(theirs)
    ? {...named, decision: 'approve'}
    : {...named, decision: 'hold', reason: 'NotAllowed'}
}

/** Why csr-approver would not give the name away. */
const holderOf = (approvers: readonly ApproverOpinion[]): string | null =>
  approvers
    .filter(({approver}) => isOfKubernetes(approver))
    .flatMap(({rules}) => rules)
    .find(({code, holds}) => code === 'node-name' && !holds)?.reason ?? null

const isOfKubernetes = (approver: string) => CLIENT_APPROVERS.some(({name}) => name === approver)

/** What would happen if a new machine asked now for its first certificate: by the rules and facts that the approvers decide by. */
export async function simulateJoin(
  client: ApiClient,
  {node, ...asked}: AskedWith & {node: string},
  clock: Clock,
): Promise<Simulation> {
  if (!isNodeName(node)) {
    throw new TrustError('USAGE', '--node is not a valid name for a node', {
      hints: ['use lower-case letters, digits, hyphens and dots, as in "worker-1.example.com"'],
    })
  }
  const now = clock.now()
  const askers = await askersOf(client, asked, now)
  const [request, isManagers] = await Promise.all([
    requestFor(node, now),
    managerApproves(client, clock),
  ])
  const simulate = async ({by, user, problems}: Asker): Promise<SimulatedWay> => {
    const csr = {...request, spec: {...request.spec, ...user}}
    const opinions = await approverOpinions(client, csr, {clock})
    const approvers = isManagers
      ? opinions.map((one) => (isOfKubernetes(one.approver) ? byManager(one) : one))
      : opinions
    const isAllowed = await mayAsk(client, user)
    const reasons = [...problems, ...(isAllowed ? [] : ['it may not create certificate requests'])]
    const isApproved = approvers.some(({decision}) => decision === 'approve')
    return {
      by,
      requester: user.username,
      groups: user.groups,
      outcome: reasons.length > 0 ? 'refused' : isApproved ? 'approved' : 'held',
      takesOver: isManagers && isApproved && reasons.length === 0 ? holderOf(opinions) : null,
      problems: reasons,
      approvers,
    }
  }
  return {node, ways: await Promise.all(askers.map(simulate))}
}
