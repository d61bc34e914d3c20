import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {TOKEN_USER_PREFIX} from '../../bootstrap/read-token-secret.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {printable} from '../../client/printable.ts'
import {approverOpinions} from '../../controllers/approval/opinions.ts'
import type {LogEntry} from '../../controllers/signing/log-line.ts'
import {APPROVED, findCondition, isOpen} from '../../csr/conditions.ts'
import {nodeUser} from '../../csr/node-names.ts'
import {commonNameIn} from '../../csr/read-request.ts'
import {KUBELET_CLIENT} from '../../csr/signers.ts'
import {TrustError} from '../../errors.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import {revokedUntil} from '../../trust/revocations.ts'
import {
  certificateOfLine,
  certificateOfRequest,
  orWarn,
  readLogOf,
  type KnownCertificate,
} from '../revocation/known-certificates.ts'
import {readList} from '../revocation/list-store.ts'
import type {HistoryEntry, NodeHistory} from './history-entry.ts'

export interface HistorySources {
  client: ApiClient
  /** The issuance log; undefined if it is not on this machine. */
  log?: string | undefined
  /** Called about what cannot be read. */
  warn: (line: string) => void
}

/** `bootstrap token abcdef`, or the user and the credential that was used. */
function requesterText(requester: string, credential: string | undefined): string {
  if (requester.startsWith(TOKEN_USER_PREFIX)) {
    return `bootstrap token ${requester.slice(TOKEN_USER_PREFIX.length)}`
  }
  return credential === undefined ? requester : `${requester} (${credential})`
}

const entry = (
  time: string,
  what: HistoryEntry['what'],
  message: string,
  {request, serial}: Pick<KnownCertificate, 'request' | 'serial'> = {},
): HistoryEntry => ({time, what, message, request: request ?? null, serial: serial ?? null})

/** A certificate that was issued, and how. */
interface Issue {
  time: string
  signer: string
  requester: string
  credential?: string | undefined
  approval?: string | undefined
  certificate: KnownCertificate
}

function issueText({requester, credential, approval, certificate}: Issue): string {
  const {serial, issuer, notAfter} = certificate
  return [
    `serial ${serial ?? ''} of ${issuer ?? 'an unknown CA'}`,
    ...(notAfter ? [`valid until ${formatTimestamp(notAfter)}`] : []),
    `requested by ${requesterText(requester, credential)}`,
    ...(approval === undefined ? [] : [`approved: ${approval}`]),
  ].join('; ')
}

/** In the order of time: whether a certificate is the first one matters. */
function issueEntries(issues: readonly Issue[], user: string): HistoryEntry[] {
  let hasJoined = false
  return issues.map((issue) => {
    const what = (() => {
      if (issue.signer !== KUBELET_CLIENT) return 'issued'
      if (issue.requester === user) return 'renewed'
      return hasJoined ? 'rejoined' : 'joined'
    })()
    if (issue.signer === KUBELET_CLIENT) hasJoined = true
    return entry(issue.time, what, issueText(issue), issue.certificate)
  })
}

/** What the log says of a node: certificates, and requests that its signer refused. */
async function fromLog(sources: HistorySources, user: string) {
  const issues: Issue[] = []
  const refused: HistoryEntry[] = []
  const see = (line: LogEntry) => {
    if (!('request' in line)) return
    const {time, signer, requester, credential, approval} = line
    for (const certificate of certificateOfLine(line)) {
      if (certificate.user === user || requester === user) {
        issues.push({time, signer, requester, credential, approval, certificate})
      }
    }
    if (line.decision === 'refused' && requester === user) {
      refused.push(entry(time, 'failed', line.reason ?? '', line))
    }
  }
  await readLogOf(sources, see)
  return {issues, refused}
}

const CONDITIONS = new Map<string, HistoryEntry['what']>([
  ['Approved', 'approved'],
  ['Denied', 'denied'],
  ['Failed', 'failed'],
])

/** What a request says that still exists. */
function fromRequest(csr: CertificateSigningRequest): HistoryEntry[] {
  const {metadata, spec, status} = csr
  const {name: request, creationTimestamp: created} = metadata
  const from = requesterText(spec.username ?? '', undefined)
  const about = request === undefined ? {} : {request}
  const conditions = (status?.conditions ?? []).flatMap(
    ({type, reason, message, lastUpdateTime}) => {
      const what = CONDITIONS.get(type)
      if (what === undefined) return []
      const why = [reason, message].filter(Boolean).join(': ')
      return [entry(lastUpdateTime ?? created ?? '', what, `${why} (${request ?? ''})`, about)]
    },
  )
  const asked = `by ${from}, to ${spec.signerName} (${request ?? ''})`
  return [entry(created ?? '', 'requested', asked, about), ...conditions]
}

/** A certificate is backdated: nobody can have seen it before its request was approved. */
const issueOf = (csr: CertificateSigningRequest): Issue[] =>
  certificateOfRequest(csr).map((certificate) => ({
    time: findCondition(csr, APPROVED)?.lastUpdateTime ?? csr.metadata.creationTimestamp ?? '',
    signer: csr.spec.signerName,
    requester: csr.spec.username ?? '',
    certificate,
  }))

async function requestsOf({client, warn}: HistorySources, user: string) {
  const found: CertificateSigningRequest[] = []
  const onPage = (items: CertificateSigningRequest[], isFirst: boolean) => {
    if (isFirst) found.length = 0
    for (const csr of items) {
      if (csr.spec.username === user || commonNameIn(csr.spec.request) === user) found.push(csr)
    }
  }
  await orWarn(client.csrs.list({onPage}), 'certificate requests', warn)
  return found
}

async function revocationsFor({client, warn}: HistorySources, user: string) {
  const parts = (await orWarn(readList(client), 'the revoked certificates', warn)) ?? []
  return parts
    .flatMap(({revocations}) => revocations)
    .filter((one) => one.user === user)
    .map(({revoked = '', by, reason, ...about}) => {
      const who = by === undefined ? '' : ` by ${by}`
      const why = reason === undefined ? '' : `: ${reason}`
      const until = revokedUntil(about.id)
      const what =
        until === undefined
          ? `serial ${about.serial ?? '<unknown>'}`
          : `everything until ${formatTimestamp(until)}`
      return entry(revoked, 'revoked', `${what}${who}${why}`, about)
    })
}

/** Everything that is known about a node, in the order in which it happened. */
export async function nodeHistory(
  node: string,
  sources: HistorySources,
  clock: Clock,
): Promise<NodeHistory> {
  const user = nodeUser(node)
  const {client} = sources
  let isWhole = true
  const warn = (line: string) => {
    isWhole = false
    sources.warn(line)
  }
  const [registered, requests, logged, revoked] = await Promise.all([
    orWarn(client.nodes.find(node), 'the Node', warn),
    requestsOf({...sources, warn}, user),
    fromLog(sources, user),
    revocationsFor({...sources, warn}, user),
  ])
  const known = new Set(logged.issues.map(({certificate}) => certificate.fingerprint))
  const issues = [
    ...logged.issues,
    ...requests.flatMap(issueOf).filter((one) => !known.has(one.certificate.fingerprint)),
  ].sort((one, other) => (one.time < other.time ? -1 : 1))
  const {creationTimestamp: created} = registered?.metadata ?? {}
  const entries = [
    ...issueEntries(issues, user),
    ...logged.refused,
    ...requests.flatMap(fromRequest),
    ...revoked,
    ...(created ? [entry(created, 'registered', 'the Node was created')] : []),
  ].sort(byTime)
  if (entries.length === 0) throw isWhole ? unknownNode(node) : notAllowed(node)
  const waiting = await Promise.all(
    requests.filter(isOpen).map(async (csr) => ({
      request: csr.metadata.name ?? '',
      approvers: await approverOpinions(client, csr, {clock}),
    })),
  )
  return {node, entries, waiting}
}

/** In one second, a request comes before its approval. */
const ORDER: readonly HistoryEntry['what'][] = [
  'requested',
  'approved',
  'denied',
  'failed',
  'joined',
  'rejoined',
  'renewed',
  'issued',
  'registered',
  'revoked',
]

/** Kubernetes' times are in whole seconds. */
const secondOf = ({time}: {time: string}): string => time.slice(0, 'YYYY-MM-DDThh:mm:ss'.length)

function byTime(one: HistoryEntry, other: HistoryEntry): number {
  const [left, right] = [secondOf(one), secondOf(other)]
  if (left !== right) return left < right ? -1 : 1
  return ORDER.indexOf(one.what) - ORDER.indexOf(other.what)
}

const unknownNode = (node: string): TrustError =>
  new TrustError('NOT_FOUND', `nothing is known about a node "${printable(node)}"`, {
    hints: [
      'list the nodes with "trustadm node list"',
      'the issuance log is on the machine of the control plane',
    ],
    facts: {node},
  })

/** Who may not read everything cannot know that there is nothing. */
const notAllowed = (node: string): TrustError =>
  new TrustError(
    'FORBIDDEN',
    `you may not read everything about nodes, and nothing that you may read mentions "${printable(node)}"`,
    {hints: ['use the kubeconfig of an administrator'], facts: {node}},
  )
