import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ConfigMap} from '../../api/core.ts'
import type {Node} from '../../api/node.ts'
import {parseTimestamp} from '../../bootstrap/timestamp.ts'
import {isOwnServer, type ApiClient} from '../../client/api-client.ts'
import {
  ALL_RECORDS,
  nodeOf,
  readRecord,
  type NodeRecord,
} from '../../controllers/approval/node-record.ts'
import {readRevocationList} from '../../controllers/approval/revoked-certificates.ts'
import {APPROVED, findCondition, isOpen} from '../../csr/conditions.ts'
import {nodeOfUser, nodeUser} from '../../csr/node-names.ts'
import {commonNameIn} from '../../csr/read-request.ts'
import {KUBELET_CLIENT} from '../../csr/signers.ts'
import {parseBundle} from '../../pki/bundle.ts'
import {pinOf} from '../../pki/pins.ts'
import type {Clock} from '../../runtime.ts'
import {issueTime, type RevocationList} from '../../trust/revocations.ts'
import {
  certificateOfLine,
  certificateOfRequest,
  orWarn,
  readLogOf,
  type KnownCertificate,
} from '../revocation/known-certificates.ts'
import {readClientAuthorities} from './client-authorities.ts'
import {byUrgency, reportOn, type NodeFacts, type NodeReport} from './report.ts'

export interface NodeListSources {
  client: Pick<ApiClient, 'nodes' | 'csrs' | 'configMaps' | 'version'>
  /** The issuance log; undefined if it is not on this machine. */
  log?: string | undefined
  /** Called about what cannot be read. */
  warn: (line: string) => void
  /** Completes a command for this cluster. */
  commandFor: (command: string) => string
}

export interface NodeList {
  nodes: NodeReport[]
}

/** The signer follows the approval at once, and a certificate does not say when it was made. */
const issueTimeOf = (csr: CertificateSigningRequest): string =>
  findCondition(csr, APPROVED)?.lastUpdateTime ?? csr.metadata.creationTimestamp ?? ''

/** What is known about nodes, by their name. */
class Findings {
  readonly issued = new Map<string, NonNullable<NodeFacts['issued']>>()
  readonly records = new Map<string, NodeRecord>()
  readonly waiting = new Map<string, string[]>()
  readonly taken = new Map<string, NonNullable<NodeFacts['taken']>>()
  readonly #seen = new Set<string>()

  /** `time` is when it was issued. It is valid from some minutes earlier. */
  seeCertificate(certificate: KnownCertificate, time: string): void {
    const {user = '', fingerprint = '', notBefore} = certificate
    const node = nodeOfUser(user)
    if (node === undefined || this.#seen.has(fingerprint)) return
    this.#seen.add(fingerprint)
    const known = this.issued.get(node)
    const isNewer = (known?.newest.notBefore?.getTime() ?? 0) <= (notBefore?.getTime() ?? 0)
    const at = parseTimestamp(time)
    const newest = known === undefined || isNewer ? {newest: certificate, at} : known
    this.issued.set(node, {...newest, count: (known?.count ?? 0) + 1})
  }

  seeRequest(csr: CertificateSigningRequest): void {
    if (!isOpen(csr)) {
      for (const one of certificateOfRequest(csr)) {
        this.seeCertificate(one, issueTimeOf(csr))
        this.#seeTaker(csr, one)
      }
      return
    }
    const node = nodeOfUser(commonNameIn(csr.spec.request) ?? '')
    if (node === undefined) return
    const names = this.waiting.get(node) ?? []
    this.waiting.set(node, [...names, csr.metadata.name ?? ''])
  }

  /** Whoever got a certificate for a node without being it, the last one of several. */
  #seeTaker({metadata, spec}: CertificateSigningRequest, {user = ''}: KnownCertificate): void {
    const node = nodeOfUser(user)
    const {name: request = '', creationTimestamp} = metadata
    const at = creationTimestamp ?? ''
    const {username: requester = ''} = spec
    if (node === undefined || requester === user) return
    if (at > (this.taken.get(node)?.at ?? '')) this.taken.set(node, {request, requester, at})
  }
}

/** The CAs that clients know the API server by: every namespace has them. */
async function authoritiesOf({configMaps}: NodeListSources['client']): Promise<string[]> {
  const object = await configMaps.find({namespace: 'kube-system', name: 'kube-root-ca.crt'})
  try {
    return parseBundle(object?.data?.['ca.crt'] ?? '').map(pinOf)
  } catch {
    return []
  }
}

async function gather(sources: NodeListSources): Promise<Findings> {
  const findings = new Findings()
  const {configMaps, csrs} = sources.client
  const onRequests = (items: CertificateSigningRequest[], isFirst: boolean) => {
    if (isFirst) findings.waiting.clear()
    for (const csr of items) findings.seeRequest(csr)
  }
  const onRecords = (items: ConfigMap[]) => {
    for (const object of items) findings.records.set(nodeOf(object), readRecord(object))
  }
  const requests = {fieldSelector: `spec.signerName=${KUBELET_CLIENT}`, onPage: onRequests}
  await Promise.all([
    orWarn(
      configMaps.list({...ALL_RECORDS, onPage: onRecords}),
      'the records of node names',
      sources.warn,
    ),
    orWarn(csrs.list(requests), 'certificate requests', sources.warn),
  ])
  await readLogOf(sources, (entry) => {
    if ('signer' in entry && entry.signer === KUBELET_CLIENT) {
      for (const one of certificateOfLine(entry)) findings.seeCertificate(one, entry.time)
    }
  })
  return findings
}

/** The reason with a colon before it; empty if there is none, undefined if nothing is revoked. */
function revocationOf(list: RevocationList | undefined, facts: NodeFacts): string | undefined {
  const {node, record, issued} = facts
  const pins = [record?.holder, issued?.newest.pin]
  const since = record?.issuedAt ?? issued?.newest.notBefore
  const user = nodeUser(node.metadata.name ?? '')
  const found =
    pins.map((pin) => pin && list?.findKey(pin)).find(Boolean) ??
    (since && list?.findUser(user, issueTime(since), pins[0] ?? pins[1]))
  if (!found) return undefined
  return found.reason === undefined ? '' : `: ${found.reason}`
}

/** Every node of a cluster with its certificate and what is wrong with it, the worst first. */
export async function listNodes(sources: NodeListSources, clock: Clock): Promise<NodeList> {
  const {client, commandFor} = sources
  const [isOwn, findings, authorities = [], clientAuthorities, list] = await Promise.all([
    isOwnServer(client),
    gather(sources),
    orWarn(authoritiesOf(client), "the cluster's CAs", sources.warn),
    orWarn(readClientAuthorities(client), 'the CAs of clients', sources.warn),
    orWarn(readRevocationList(client), 'the revoked certificates', sources.warn),
  ])
  const now = clock.now()
  let nodes: NodeReport[] = []
  const onPage = (items: Node[], isFirst: boolean) => {
    if (isFirst) nodes = []
    for (const node of items) {
      const name = node.metadata.name ?? ''
      const facts: NodeFacts = {
        node,
        issued: findings.issued.get(name),
        record: findings.records.get(name),
        waiting: findings.waiting.get(name) ?? [],
        taken: isOwn ? undefined : findings.taken.get(name),
      }
      const revoked = revocationOf(list, facts)
      nodes.push(reportOn({...facts, revoked}, {now, authorities, clientAuthorities, commandFor}))
    }
  }
  await client.nodes.list({onPage})
  return {nodes: nodes.sort(byUrgency)}
}
