import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {isApproved, isIssued} from '../csr/conditions.ts'
import {withGiven} from '../csr/log-head.ts'
import {parseStoredRequest} from '../csr/read-request.ts'
import {pinOf} from '../pki/pins.ts'
import type {Clock} from '../runtime.ts'
import type {Live} from '../trust/live.ts'
import {
  REVOKED,
  RevokedCertificates,
  type RevocationSource,
} from './approval/revoked-certificates.ts'
import {follow, followLive, type ControllerSpec, type Copy} from './kernel/controller.ts'
import {decide, refuse, type Decision, type Signer, type SignersByName} from './signing/decide.ts'
import type {IssuanceLog} from './signing/issuance.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'
import {writeOutcome} from './kernel/write-outcome.ts'

type Csr = CertificateSigningRequest

/** How long an unpublished certificate is tried again before a new one is signed. */
const OFFERED = 5 * 60_000
/** When to look again whether this process still leads. */
const UNSURE = 500

export interface CsrSignerDeps {
  signers: Live<SignersByName>
  issuances: IssuanceLog
  checksSignatures: boolean
  /** Absent if no other process can sign. Nothing is signed unless it is certain that no other one does. */
  leads?: (() => boolean) | undefined
  /** What was signed and may not be published yet: kept for the next time that this process leads. */
  offers?: Offers | undefined
}

export interface CsrSignerOptions {
  clock: Clock
  /** Absent if the server has no list of revoked certificates. */
  revoked?: Pick<RevokedCertificates, 'objectionTo'> | undefined
}

const isToBeSigned = (csr: Csr): boolean => isApproved(csr) && !isIssued(csr)

interface Remembered {
  uid: string | undefined
  decision: Decision
  /** The newest line of the log, for the node to keep with its certificate. */
  head: string | undefined
  until: number
  isPublished: boolean
}

/** By the names of requests. */
export type Offers = Map<string, Remembered>

/** Of what was done before this process led again, only certificates that may still be published. */
function withoutOld(offers: Offers, now: Date): Offers {
  for (const [name, {isPublished, until}] of offers)
    if (isPublished || until <= now.getTime()) offers.delete(name)
  return offers
}

/**
 * Kubernetes' csrsigning controller: signs approved requests for the signers of this process, or sets a Failed condition
 * with the reason. It ignores requests for other signers. In addition, it refuses what was approved just before its key, or the certificate
 * that it was requested with, was revoked.
 */
export function signRequests(
  csrs: Pick<Copy<Csr>, 'find'>,
  writer: Pick<ApiClient, 'csrs'>,
  {signers, issuances, checksSignatures, leads = () => true, offers = new Map()}: CsrSignerDeps,
  {clock, revoked}: CsrSignerOptions,
): Reconcile {
  /** What was done but is not in the informer yet, so that nothing is signed twice. */
  const remembered = withoutOld(offers, clock.now())

  /** A refusal if something is revoked: also of a certificate that was signed before, and is not published yet. */
  async function revocationOf(csr: Csr): Promise<Decision | undefined> {
    const verdict = revoked && parseStoredRequest(csr.spec.request)
    if (verdict === undefined || 'why' in verdict) return undefined
    const {request} = verdict
    const why = await revoked?.objectionTo(csr, {pin: pinOf(request)})
    return why === undefined ? undefined : refuse(csr, request, why, REVOKED)
  }

  /** Undefined if another process may be signing by now. */
  async function decisionOn(csr: Csr, signer: Signer): Promise<Remembered | undefined> {
    const {name = '', uid} = csr.metadata
    const earlier = remembered.get(name)
    const now = clock.now()
    if (earlier?.uid === uid && earlier?.isPublished) return earlier
    const refusal = await revocationOf(csr)
    const isOffered = earlier?.uid === uid && now.getTime() < (earlier?.until ?? 0)
    if (earlier && isOffered && (!refusal || earlier.decision.issuance.decision === 'refused')) {
      return earlier
    }
    if (!leads()) return undefined
    const decision =
      refusal ?? (await decide(csr, {signer, now, checksSignature: checksSignatures}))
    const head = await issuances.append(decision.issuance)
    const made = {uid, decision, head, until: now.getTime() + OFFERED, isPublished: false}
    remembered.set(name, made)
    return made
  }

  return async (name, signal) => {
    const csr = await csrs.find(name)
    const signer = csr && isToBeSigned(csr) ? signers.current.get(csr.spec.signerName) : undefined
    if (csr === undefined || signer === undefined) {
      remembered.delete(name)
      return DONE
    }
    const made = await decisionOn(csr, signer)
    if (!made) return {requeueAfter: UNSURE}
    if (!made.isPublished) {
      const {decision, head} = made
      const write = (now: Csr) => {
        const decided = {...now, status: decision.apply(now.status)}
        return writer.csrs.updateStatus(withGiven(decided, head), {signal})
      }
      await writeOutcome(writer, csr, {applies: isToBeSigned, write}, {signal})
    }
    made.isPublished = true
    return DONE
  }
}

export function csrSignerController(
  reader: ApiClient,
  writer: ApiClient,
  deps: CsrSignerDeps,
  {clock, revocations}: {clock: Clock; revocations?: RevocationSource | undefined},
): ControllerSpec {
  const {signers} = deps
  // A revocation concerns only what is not signed yet, and that is looked at anyway.
  const revoked = revocations && new RevokedCertificates(revocations, () => [])
  const csrs = follow(reader.csrs, (csr, key) =>
    isToBeSigned(csr) && signers.current.get(csr.spec.signerName) ? [key] : [],
  )
  /** For a signer that was added, or whose CA has just become available. */
  const approvedEarlier = async () =>
    (await csrs.list()).filter(isToBeSigned).map(({metadata}) => metadata.name ?? '')
  return {
    name: 'csr-signer',
    sources: [csrs, followLive(signers, approvedEarlier), ...(revoked ? [revoked] : [])],
    reconcile: signRequests(csrs, writer, deps, {clock, revoked}),
    // Signatures are made on other threads, and concurrent writes share a commit.
    workers: 64,
  }
}
