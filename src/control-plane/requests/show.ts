import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../api/certificates.ts'
import type {Event} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {approverOpinions} from '../../controllers/approval/opinions.ts'
import {readRevocationList} from '../../controllers/approval/revoked-certificates.ts'
import {stateOf, type CsrState} from '../../csr/conditions.ts'
import type {ApproverOpinion} from '../../csr/opinion.ts'
import {readRequest} from '../../csr/read-request.ts'
import {problemsOf} from '../../csr/request-rules.ts'
import {SIGNER_RULES, isWellKnownSigner} from '../../csr/signers.ts'
import {issuedPem, nameOf} from '../../enrollment/outcome.ts'
import {messageOf} from '../../errors.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {formatName} from '../../pki/distinguished-name.ts'
import {pinOf} from '../../pki/pins.ts'
import type {CertificateRequest} from '../../pki/request.ts'
import type {Clock} from '../../runtime.ts'
import {issueTime, revocationsOf} from '../../trust/revocations.ts'
import {
  decodeRequest,
  describeIssued,
  readIssued,
  type DecodedRequest,
  type IssuedCertificate,
} from './decode.ts'
import {adminRightsOf, type AdminRight} from './admin-rights.ts'
import {getRequest} from './find.ts'
import {resolveName} from './names.ts'
import type {Pairing} from './pairing.ts'

/** What happened to a request. */
interface RequestEvent {
  time: string | null
  type: string
  reason: string
  message: string
  from: string
  count: number
}

/** Everything about a request, as `certificate show` shows it. */
export interface RequestReport {
  name: string
  uid: string
  created: string | null
  state: CsrState
  signer: string
  usages: string[]
  /** Null for the signer's default. */
  requestedSeconds: number | null
  requester: {username: string; uid: string; groups: string[]; extra: Record<string, string[]>}
  labels: Record<string, string>
  /** Null if it cannot be decoded: see `problems`. */
  request: DecodedRequest | null
  /** What the machine prints that made it, while it waits for a person; null afterwards. */
  pairingWords: string | null
  conditions: CertificateSigningRequestCondition[]
  /** The user and groups in it that may do everything in the cluster; null if that is not known. */
  adminRights: AdminRight[] | null
  /** Null if they are not available. */
  approvers: ApproverOpinion[] | null
  /** Why its signer would not sign it; null for a signer whose rules are unknown. */
  signerProblems: string[] | null
  certificate: IssuedCertificate | null
  /** The entry that revokes the certificate; null if it is not revoked, or if the caller may not read the list. */
  revoked: {revoked: string | null; by: string | null; reason: string | null} | null
  /** Null if the caller may not read them. */
  events: RequestEvent[] | null
  /** Problems with the request, and what is not available. */
  problems: string[]
}

type Csr = CertificateSigningRequest

const EVENTS_NAMESPACE = 'default'

/** What is requested, by whom, what each approver thinks of it, and the outcome. */
export async function showRequest(
  client: ApiClient,
  name: string,
  clock: Clock,
  pairing: Pairing,
): Promise<RequestReport> {
  const csr = await getRequest(client, await resolveName(client, name))
  return await reportOn(client, csr, clock, pairing)
}

export async function reportOn(
  client: ApiClient,
  csr: Csr,
  clock: Clock,
  pairing: Pairing,
): Promise<RequestReport> {
  const {metadata, spec, status} = csr
  const problems: string[] = []
  const [approvers, events, pairingWords] = await Promise.all([
    orProblem(approverOpinions(client, csr, {clock}), 'the opinions of the approvers', problems),
    orProblem(eventsOf(client, csr), 'its events', problems),
    orProblem(pairing(csr), 'its pairing words', problems),
  ])
  const verdict = readRequest(spec.request)
  const adminRights =
    'request' in verdict
      ? await orProblem(
          adminRightsOf(client, csr, verdict.request.subject),
          'the rights of its subject',
          problems,
        )
      : null
  if ('why' in verdict) problems.push(`the request cannot be read: ${verdict.why}`)
  const issued = issuedBy(csr, 'request' in verdict ? pinOf(verdict.request) : '', problems)
  return {
    name: nameOf(csr),
    uid: metadata.uid ?? '',
    created: metadata.creationTimestamp ?? null,
    state: stateOf(csr),
    signer: spec.signerName,
    usages: spec.usages ?? [],
    requestedSeconds: spec.expirationSeconds ?? null,
    requester: {
      username: spec.username ?? '',
      uid: spec.uid ?? '',
      groups: spec.groups ?? [],
      extra: spec.extra ?? {},
    },
    labels: metadata.labels ?? {},
    request: 'request' in verdict ? decodeRequest(verdict.request) : null,
    pairingWords,
    conditions: status?.conditions ?? [],
    adminRights,
    approvers,
    signerProblems: 'request' in verdict ? signerProblems(csr, verdict.request) : null,
    certificate: issued ? describeIssued(issued.certificate, issued.chain) : null,
    revoked: issued ? await revocationOf(client, issued.certificate, problems) : null,
    events,
    problems,
  }
}

async function orProblem<T>(
  answer: Promise<T>,
  what: string,
  problems: string[],
): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    problems.push(`${what} are not available: ${messageOf(error)}`)
    return null
  }
}

function signerProblems({spec}: Csr, request: CertificateRequest): string[] | null {
  const {signerName} = spec
  return isWellKnownSigner(signerName) ? problemsOf(spec, request, SIGNER_RULES[signerName]) : null
}

function issuedBy(csr: Csr, pin: string, problems: string[]) {
  const pem = issuedPem(csr)
  if (pem === undefined) return undefined
  const issued = readIssued(pem)
  if ('why' in issued) {
    problems.push(`the certificate cannot be read: ${issued.why}`)
    return undefined
  }
  if (pin !== '' && pinOf(issued.certificate) !== pin) {
    problems.push('the certificate is for another key than the request')
  }
  return issued
}

async function revocationOf(
  client: Pick<ApiClient, 'configMaps'>,
  certificate: Certificate,
  problems: string[],
): Promise<RequestReport['revoked']> {
  const list = await orProblem(readRevocationList(client), 'the revoked certificates', problems)
  const {serial, issuer, subject, notBefore} = certificate
  const pin = pinOf(certificate)
  const ids = revocationsOf({pin, serial, issuer: formatName(issuer)})
  const found = list?.find(ids) ?? list?.findUser(subject.commonName, issueTime(notBefore), pin)
  if (!found) return null
  const {revoked = null, by = null, reason = null} = found
  return {revoked, by, reason}
}

/** As `kubectl describe` looks for them. */
async function eventsOf({events}: Pick<ApiClient, 'events'>, csr: Csr): Promise<RequestEvent[]> {
  const {items} = await events.list({
    namespace: EVENTS_NAMESPACE,
    fieldSelector: `involvedObject.kind=CertificateSigningRequest,involvedObject.name=${nameOf(csr)}`,
  })
  return items
    .filter(({involvedObject: {uid = ''}}) => uid === '' || uid === csr.metadata.uid)
    .map(describeEvent)
    .sort((one, other) => ((one.time ?? '') < (other.time ?? '') ? -1 : 1))
}

const describeEvent = (event: Event): RequestEvent => ({
  time: event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? null,
  type: event.type ?? 'Normal',
  reason: event.reason ?? '',
  message: event.message ?? '',
  from: event.source?.component ?? event.reportingComponent ?? '',
  count: event.count ?? 1,
})
