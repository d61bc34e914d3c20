import type {ApiClient} from '../client/api-client.ts'
import {KUBELET_CLIENT} from '../csr/signers.ts'
import type {Clock} from '../runtime.ts'
import {askAccess} from './approval/access-review.ts'
import {
  CLIENT_APPROVERS,
  clientOpinion,
  type ClientApprover,
  type ClientFacts,
} from './approval/client-approvers.ts'
import {isOpen, writeDecision} from './approval/decide.ts'
import type {NameClaims} from './approval/name-rule.ts'
import {NODE_ANNOTATION, RECORD_NAMESPACE, isKeyOf, isNodeName} from './approval/node-record.ts'
import {GRANT_LABEL} from './approval/rejoin-grant.ts'
import {allHold, objections} from './approval/opinion.ts'
import {Patience} from './approval/patience.ts'
import {findRecord, reserveName, saveIssued} from './approval/record-store.ts'
import {RequestIndex, type KnownRequest} from './approval/request-index.ts'
import {Turns} from './approval/turns.ts'
import {isUnknown} from './approval/unknown.ts'
import {follow, type ControllerSpec} from './kernel/controller.ts'
import {EventReporter, csrReference} from './kernel/events.ts'
import {DONE, type Reconcile, type ReconcileResult} from './kernel/work-queue.ts'

type Writer = Pick<ApiClient, 'csrs' | 'subjectAccessReviews' | 'nodes' | 'leases' | 'events'>
type Readable = KnownRequest & {asked: NonNullable<KnownRequest['asked']>}

const AFTER_CONFLICT = 50
const COMPONENT = 'csr-approver'
/** Why a request waits, where an Event says so. */
const TOLD = ['NodeNameTaken', 'Superseded']

/**
 * Kubernetes' csrapproving controller, which knows the client certificates of kubelets and approves those that a
 * SubjectAccessReview allows. Beyond it, a name that is taken is not given to another key: see `nameRule`.
 */
class CsrApprover {
  readonly #requests: RequestIndex
  readonly #writer: Writer
  readonly #clock: Clock
  readonly #events: EventReporter
  readonly #turns = new Turns()
  readonly #patience = new Patience()

  constructor(requests: RequestIndex, writer: Writer, clock: Clock) {
    this.#requests = requests
    this.#writer = writer
    this.#clock = clock
    this.#events = new EventReporter(writer, COMPONENT, clock)
  }

  readonly reconcile: Reconcile = async (name, signal) => {
    const known = await this.#requests.find(name)
    const node = known?.asked?.node
    if (node === undefined) return this.#done(name)
    // One node at a time: of two requests for one name the second has to see what became of the first.
    return await this.#turns.take(node, async () => {
      const request = await this.#requests.find(name)
      if (request?.asked?.node !== node) return this.#done(name)
      return await this.#decide(name, {...request, asked: request.asked}, signal)
    })
  }

  #done(name: string): ReconcileResult {
    this.#patience.forget(name)
    return DONE
  }

  async #decide(name: string, request: Readable, signal: AbortSignal): Promise<ReconcileResult> {
    const {csr, asked, issued, isApproved} = request
    if (issued !== undefined) {
      const now = this.#clock.now()
      await saveIssued(this.#writer, asked.node ?? '', issued, {now, signal})
    }
    if (isApproved || !isOpen(csr)) return this.#done(name)

    const recognising = CLIENT_APPROVERS.filter((one) => allHold(one.recognise(csr, asked)))
    if (recognising.length === 0) return this.#done(name)
    for (const approver of recognising) {
      const facts = await this.#gather(approver, request, signal)
      const opinion = clientOpinion(approver, csr, asked, facts)
      if (opinion.decision === 'approve')
        return await this.#approve(approver, request, facts, signal)
      if (opinion.reason !== undefined && TOLD.includes(opinion.reason)) {
        const happening = {
          type: 'Warning' as const,
          reason: opinion.reason,
          message: `left pending: ${objections(opinion)}`,
        }
        await this.#events.report(csrReference(csr), happening, {signal})
      }
    }
    // Rights may be given, names may become free.
    return {requeueAfter: this.#patience.next(name)}
  }

  async #gather(
    {name: permission, guardsNames}: ClientApprover,
    {csr, asked}: Readable,
    signal: AbortSignal,
  ): Promise<ClientFacts> {
    const now = this.#clock.now()
    const review = await askAccess(this.#writer, csr, permission, {signal})
    if (!guardsNames || !review.allowed) return {now, review}
    const node = asked.node ?? ''
    const [found, record] = await Promise.all([
      isNodeName(node) ? this.#writer.nodes.find(node, {signal}) : undefined,
      findRecord(this.#writer, node, {signal}),
    ])
    const claims: NameClaims = {
      nodeExists: found !== undefined,
      record,
      approved: this.#requests.approvedFor(node, csr.metadata.name ?? ''),
      newer: this.#requests.newerThan(csr, asked),
    }
    return {now, review, claims}
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
    {csr, asked: {node = '', pin}}: Readable,
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
