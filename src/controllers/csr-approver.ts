import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {CLIENT_APPROVERS, recognise, type ClientApprover} from '../csr/approvers.ts'
import {isOpen} from '../csr/conditions.ts'
import {allHold, isUnknown, objections} from '../csr/opinion.ts'
import {KUBELET_CLIENT} from '../csr/signers.ts'
import type {Clock} from '../runtime.ts'
import {RememberedReviews} from './approval/access-review.ts'
import {clientFacts, currentNames, nameClaims, type NameSources} from './approval/client-facts.ts'
import {clientOpinion, type ClientFacts} from './approval/client-opinion.ts'
import type {NameClaims} from './approval/name-rule.ts'
import {
  RECORD_LABEL,
  RECORD_NAMESPACE,
  isKeyOf,
  nodeOf,
  readRecord,
  recordIssued,
  recordKey,
  type IssuedIdentity,
} from './approval/node-record.ts'
import {KeyedBackoff, KeyedQueue} from './approval/per-key.ts'
import {doubtExpected, reserveName, saveIssued, type Expectation} from './approval/record-store.ts'
import {RequestIndex, type IndexedRequest} from './approval/request-index.ts'
import {lifetimeBy} from './csr-signer.ts'
import {follow, type ControllerSpec} from './kernel/controller.ts'
import {EventReporter, csrReference} from './kernel/events.ts'
import {DONE, type Reconcile, type ReconcileResult} from './kernel/work-queue.ts'
import {writeDecision} from './kernel/write-outcome.ts'

type Writer = Pick<ApiClient, 'csrs' | 'subjectAccessReviews' | 'nodes' | 'leases' | 'events'>
type Csr = CertificateSigningRequest
type Readable = IndexedRequest & {requested: NonNullable<IndexedRequest['requested']>}

const AFTER_CONFLICT = 50
const COMPONENT = 'csr-approver'
/** Why a request waits, for the reasons that are reported as an Event. */
const REPORTED = ['NodeNameTaken', 'Superseded']

/**
 * Kubernetes' csrapproving controller: approves client certificates of kubelets that a SubjectAccessReview allows. In
 * addition, a taken name is not given to another key: see `nameRule`.
 */
class CsrApprover {
  readonly #requests: RequestIndex
  readonly #copies: NameSources
  readonly #writer: Writer
  readonly #clock: Clock
  readonly #lifetimeOf: LifetimeOf
  readonly #reviews: RememberedReviews
  readonly #events: EventReporter
  /** Of requests that this process has approved and that are not issued yet, by name. */
  readonly #expectations = new Map<string, Expectation & {node: string}>()
  /** Requests whose name was taken while the informer still showed it as free. */
  readonly #overtaken = new Set<string>()
  readonly #perNode = new KeyedQueue()
  readonly #backoff = new KeyedBackoff()

  constructor(
    requests: RequestIndex,
    copies: NameSources,
    writer: Writer,
    {clock, lifetimeOf}: {clock: Clock; lifetimeOf: LifetimeOf},
  ) {
    this.#requests = requests
    this.#copies = copies
    this.#writer = writer
    this.#clock = clock
    this.#lifetimeOf = lifetimeOf
    this.#reviews = new RememberedReviews(writer)
    this.#events = new EventReporter(writer, COMPONENT, clock)
  }

  readonly reconcile: Reconcile = async (name, signal) => {
    const node = (await this.#requests.nodeOf(name)) ?? this.#expectations.get(name)?.node
    if (node === undefined) return this.#done(name)
    // One request of a node at a time: the second request for a name must see the outcome of the first.
    return await this.#perNode.run(node, async () => {
      const request = await this.#requests.find(name)
      await this.#record(name, request, signal)
      if (request?.requested?.node !== node) return this.#done(name)
      return await this.#decide(name, {...request, requested: request.requested}, signal)
    })
  }

  /** Updates the record of the name with the outcome of the request. */
  async #record(name: string, request: IndexedRequest | undefined, signal: AbortSignal) {
    const expectation = this.#expectations.get(name)
    const now = this.#clock.now()
    const {issued, requested: {node} = {}} = request ?? {}
    if (issued !== undefined && node !== undefined) {
      if (expectation === undefined && (await this.#isRecorded(node, issued, now))) return
      await saveIssued(this.#writer, node, issued, {...expectation, now, signal})
    } else if (expectation !== undefined && request?.isApproved !== true) {
      await doubtExpected(this.#writer, expectation.node, expectation, {now, signal})
    } else return
    this.#expectations.delete(name)
  }

  async #isRecorded(node: string, issued: IssuedIdentity, now: Date): Promise<boolean> {
    const record = await this.#copies.findRecord(node)
    return record !== undefined && recordIssued(record.lease, issued, now) === undefined
  }

  #done(name: string): ReconcileResult {
    this.#backoff.forget(name)
    this.#overtaken.delete(name)
    return DONE
  }

  async #decide(name: string, request: Readable, signal: AbortSignal): Promise<ReconcileResult> {
    const {csr, requested, isApproved} = request
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
    // Permissions may be granted later, and names may become free.
    return {requeueAfter: this.#backoff.next(name)}
  }

  #gather(approver: ClientApprover, request: Readable, signal: AbortSignal): Promise<ClientFacts> {
    return clientFacts(approver, {
      review: (permission) => this.#reviews.ask(request.csr, permission, {signal}),
      claims: () => this.#claims(request, signal),
      isThorough: false,
      now: this.#clock.now(),
    })
  }

  /**
   * The informer is enough for a free name: if it is out of date, reserving the name fails. Everything else is read from the
   * server.
   */
  async #claims(request: Readable, signal: AbortSignal): Promise<NameClaims> {
    const copied = await nameClaims(this.#copies, this.#requests, request)
    const isFree = copied.record === undefined && !copied.nodeExists
    if (isFree && !this.#overtaken.has(request.csr.metadata.name ?? '')) return copied
    return await nameClaims(currentNames(this.#writer, {signal}), this.#requests, request)
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

  /** Returns false if the name must be checked again because its record has changed. */
  async #reserve(
    {csr, requested: {node = '', pin}}: Readable,
    {claims, now}: ClientFacts,
    signal: AbortSignal,
  ): Promise<boolean> {
    const record = claims === undefined || isUnknown(claims) ? undefined : claims.record
    if (record !== undefined && isKeyOf(record, pin, now)) return true
    const {username: requester = ''} = csr.spec
    const lifetime = this.#lifetimeOf(csr, now)
    const reservation = {node, pin, requester, record, lifetime}
    const reserved = await reserveName(this.#writer, reservation, {now, signal})
    const {name = ''} = csr.metadata
    if (reserved === false) this.#overtaken.add(name)
    else if (reserved.expectation) this.#expectations.set(name, {...reserved.expectation, node})
    return reserved !== false
  }
}

/** How long the certificate for a request will last, in milliseconds, if known. */
export type LifetimeOf = (csr: Csr, now: Date) => number

export function csrApproverController(
  reader: ApiClient,
  writer: ApiClient,
  clock: Clock,
  lifetimeOf: LifetimeOf = (csr, now) => lifetimeBy(new Map(), csr, now),
): ControllerSpec {
  const requests = new RequestIndex(reader.csrs, KUBELET_CLIENT)
  const records = follow(reader.leases, (lease) => requests.openFor(nodeOf(lease)), {
    namespace: RECORD_NAMESPACE,
    labelSelector: RECORD_LABEL,
  })
  const nodes = follow(reader.nodes, () => [])
  const copies: NameSources = {
    hasNode: async (node) => await nodes.has(node),
    findRecord: async (node) => {
      const {namespace, name} = recordKey(node)
      const lease = await records.find(`${namespace}/${name}`)
      return lease && readRecord(lease)
    },
  }
  return {
    name: 'csr-approver',
    sources: [requests, records, nodes],
    reconcile: new CsrApprover(requests, copies, writer, {clock, lifetimeOf}).reconcile,
    backoff: {first: 200, most: 1_000_000},
    // Each mostly waits for the server, and concurrent writes share a commit.
    workers: 64,
  }
}
