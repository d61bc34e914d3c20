import type {ApiClient} from '../client/api-client.ts'
import {CLIENT_APPROVERS, recognise, type ClientApprover} from '../csr/approvers.ts'
import {isOpen} from '../csr/conditions.ts'
import {allHold, isUnknown, objections} from '../csr/opinion.ts'
import {KUBELET_CLIENT} from '../csr/signers.ts'
import type {Clock} from '../runtime.ts'
import {askAccess} from './approval/access-review.ts'
import {clientFacts, nameClaims} from './approval/client-facts.ts'
import {clientOpinion, type ClientFacts} from './approval/client-opinion.ts'
import {NODE_ANNOTATION, RECORD_NAMESPACE, isKeyOf} from './approval/node-record.ts'
import {KeyedBackoff, KeyedQueue} from './approval/per-key.ts'
import {reserveName, saveIssued} from './approval/record-store.ts'
import {GRANT_LABEL} from './approval/rejoin-grant.ts'
import {RequestIndex, type IndexedRequest} from './approval/request-index.ts'
import {follow, type ControllerSpec} from './kernel/controller.ts'
import {EventReporter, csrReference} from './kernel/events.ts'
import {DONE, type Reconcile, type ReconcileResult} from './kernel/work-queue.ts'
import {writeDecision} from './kernel/write-outcome.ts'

type Writer = Pick<ApiClient, 'csrs' | 'subjectAccessReviews' | 'nodes' | 'leases' | 'events'>
type Readable = IndexedRequest & {requested: NonNullable<IndexedRequest['requested']>}

const AFTER_CONFLICT = 50
const COMPONENT = 'csr-approver'
/** Why a request waits, for those reasons that an Event tells. */
const REPORTED = ['NodeNameTaken', 'Superseded']

/**
 * Kubernetes' csrapproving controller, which knows the client certificates of kubelets and approves those that a
 * SubjectAccessReview allows. Beyond it, a name that is taken is not given to another key: see `nameRule`.
 */
class CsrApprover {
  readonly #requests: RequestIndex
  readonly #writer: Writer
  readonly #clock: Clock
  readonly #events: EventReporter
  readonly #perNode = new KeyedQueue()
  readonly #backoff = new KeyedBackoff()

  constructor(requests: RequestIndex, writer: Writer, clock: Clock) {
    this.#requests = requests
    this.#writer = writer
    this.#clock = clock
    this.#events = new EventReporter(writer, COMPONENT, clock)
  }

  readonly reconcile: Reconcile = async (name, signal) => {
    const node = (await this.#requests.find(name))?.requested?.node
    if (node === undefined) return this.#done(name)
    // One node at a time: of two requests for one name the second has to see what became of the first.
    return await this.#perNode.run(node, async () => {
      const request = await this.#requests.find(name)
      if (request?.requested?.node !== node) return this.#done(name)
      return await this.#decide(name, {...request, requested: request.requested}, signal)
    })
  }

  #done(name: string): ReconcileResult {
    this.#backoff.forget(name)
    return DONE
  }

  async #decide(name: string, request: Readable, signal: AbortSignal): Promise<ReconcileResult> {
    const {csr, requested, issued, isApproved} = request
    if (issued !== undefined) {
      const now = this.#clock.now()
      await saveIssued(this.#writer, requested.node ?? '', issued, {now, signal})
    }
    if (isApproved || !isOpen(csr)) return this.#done(name)

    const recognising = CLIENT_APPROVERS.filter((one) => allHold(recognise(one, csr, requested)))
    if (recognising.length === 0) return this.#done(name)
    for (const approver of recognising) {
      const facts = await this.#gather(approver, request, signal)
      const opinion = clientOpinion(approver, csr, requested, facts)
      if (opinion.decision === 'approve')
        return await this.#approve(approver, request, facts, signal)
      if (opinion.reason !== undefined && REPORTED.includes(opinion.reason)) {
        const happening = {
          type: 'Warning' as const,
          reason: opinion.reason,
          message: `left pending: ${objections(opinion)}`,
        }
        await this.#events.report(csrReference(csr), happening, {signal})
      }
    }
    // Rights may be given, names may become free.
    return {requeueAfter: this.#backoff.next(name)}
  }

  #gather(approver: ClientApprover, request: Readable, signal: AbortSignal): Promise<ClientFacts> {
    return clientFacts(approver, {
      review: (permission) => askAccess(this.#writer, request.csr, permission, {signal}),
      claims: () => nameClaims(this.#writer, this.#requests, request, {signal}),
      isThorough: false,
      now: this.#clock.now(),
    })
  }

  async #approve(
    {message, guardsNames}: ClientApprover,
    request: Readable,
    facts: ClientFacts,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    if (guardsNames && !(await this.#reserve(request, facts, signal))) {
      return {requeueAfter: AFTER_CONFLICT}
    }
    const {csr} = request
    const {name = ''} = csr.metadata
    const condition = {type: 'Approved' as const, reason: 'AutoApproved', message}
    if (await writeDecision(this.#writer, csr, condition, {signal})) this.#requests.approved(name)
    return this.#done(name)
  }

  /** False where the name has to be looked at again, for its record was changed meanwhile. */
  async #reserve(
    {csr, requested: {node = '', pin}}: Readable,
    {claims, now}: ClientFacts,
    signal: AbortSignal,
  ): Promise<boolean> {
    const record = claims === undefined || isUnknown(claims) ? undefined : claims.record
    if (record !== undefined && isKeyOf(record, pin, now)) return true
    const {username: requester = ''} = csr.spec
    return await reserveName(this.#writer, {node, pin, requester, record}, {now, signal})
  }
}

export function csrApproverController(
  reader: ApiClient,
  writer: ApiClient,
  clock: Clock,
): ControllerSpec {
  const requests = new RequestIndex(reader.csrs, KUBELET_CLIENT)
  const granted = follow(
    reader.leases,
    ({metadata}) => requests.openFor(metadata.annotations?.[NODE_ANNOTATION] ?? ''),
    {namespace: RECORD_NAMESPACE, labelSelector: GRANT_LABEL},
  )
  return {
    name: 'csr-approver',
    sources: [requests, granted],
    reconcile: new CsrApprover(requests, writer, clock).reconcile,
    backoff: {first: 200, most: 1_000_000},
    // Each waits for the server most of the time, and writes that come together share a commit.
    workers: 64,
  }
}
