import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {APPROVED, DENIED, FAILED, findCondition, isIssued} from '../csr/conditions.ts'
import {WELL_KNOWN_SIGNERS, type WellKnownSigner} from '../csr/signers.ts'
import type {Clock} from '../runtime.ts'
import {follow, type ControllerSpec, type Copy} from './kernel/controller.ts'
import type {AuthorityFor} from './signing/authorities.ts'
import {decide, type Decision} from './signing/decide.ts'
import type {IssuanceLog} from './signing/issuance.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'
import {writeOutcome} from './kernel/write-outcome.ts'

type Csr = CertificateSigningRequest

const MINUTE = 60_000
/** A certificate that could not be published is offered again for so long, before a new one is signed. */
const KEPT = 5 * MINUTE

export interface CsrSignerDeps {
  authorityFor: AuthorityFor
  issuances: IssuanceLog
  checksSignatures: boolean
}

const isOurs = (name: string): name is WellKnownSigner =>
  (WELL_KNOWN_SIGNERS as readonly string[]).includes(name)

const isToBeSigned = (csr: Csr): boolean =>
  !isIssued(csr) &&
  findCondition(csr, APPROVED) !== undefined &&
  findCondition(csr, DENIED) === undefined &&
  findCondition(csr, FAILED) === undefined

interface Remembered {
  uid: string | undefined
  decision: Decision
  until: number
  isPublished: boolean
}

/**
 * Kubernetes' csrsigning controller: signs what was approved for one of the four well-known signers, or says by a Failed
 * condition why it never will. Requests for other signers are left to others.
 */
export function signRequests(
  csrs: Pick<Copy<Csr>, 'find'>,
  writer: Pick<ApiClient, 'csrs'>,
  {authorityFor, issuances, checksSignatures}: CsrSignerDeps,
  clock: Clock,
): Reconcile {
  /** What was done and is not seen in the copy yet: nothing is signed twice for a copy that lags. */
  const remembered = new Map<string, Remembered>()

  async function decisionOn(csr: Csr, signer: WellKnownSigner): Promise<Remembered | undefined> {
    const {name = '', uid} = csr.metadata
    const known = remembered.get(name)
    const now = clock.now()
    if (known && known.uid === uid && (known.isPublished || now.getTime() < known.until)) {
      return known
    }
    const authority = authorityFor(signer)
    if (!authority) return undefined
    const decision = await decide(csr, {authority, now, checksSignature: checksSignatures})
    await issuances.append(decision.issuance)
    const made = {uid, decision, until: now.getTime() + KEPT, isPublished: false}
    remembered.set(name, made)
    return made
  }

  return async (name, signal) => {
    const csr = await csrs.find(name)
    const signer = csr?.spec.signerName ?? ''
    if (csr === undefined || !isOurs(signer) || !isToBeSigned(csr)) {
      remembered.delete(name)
      return DONE
    }
    const made = await decisionOn(csr, signer)
    // The CA's key may be put there later.
    if (made === undefined) return {requeueAfter: MINUTE}
    if (!made.isPublished) {
      const {apply} = made.decision
      const write = (now: Csr) =>
        writer.csrs.updateStatus({...now, status: apply(now.status)}, {signal})
      await writeOutcome(writer, csr, {isOpen: isToBeSigned, write}, {signal})
    }
    made.isPublished = true
    return DONE
  }
}

export function csrSignerController(
  reader: ApiClient,
  writer: ApiClient,
  deps: CsrSignerDeps,
  clock: Clock,
): ControllerSpec {
  const csrs = follow(reader.csrs, (csr, key) =>
    isOurs(csr.spec.signerName) && isToBeSigned(csr) ? [key] : [],
  )
  return {
    name: 'csr-signer',
    sources: [csrs],
    reconcile: signRequests(csrs, writer, deps, clock),
    // Signatures are made on other threads, and writes that come together share a commit.
    workers: 64,
  }
}
