import type {ApiClient} from '../client/api-client.ts'
import {isOpen} from '../csr/conditions.ts'
import {type ApproverOpinion, objections} from '../csr/opinion.ts'
import {KUBELET_CLIENT} from '../csr/signers.ts'
import {formatName} from '../pki/distinguished-name.ts'
import type {Clock} from '../runtime.ts'
import type {Live} from '../trust/live.ts'
import type {NameSources} from './approval/client-opinion.ts'
import {credentialObjection, type FollowedTokens} from './approval/live-credential.ts'
import {
  isKeyOf,
  type IssuedIdentity,
  type NodeRecord,
  recordIssued,
} from './approval/node-record.ts'
import {doubtExpected, type Expectation, reserveName, saveIssued} from './approval/record-store.ts'
import type {IndexedRequest, RequestIndex} from './approval/request-index.ts'
import type {RevokedCertificates} from './approval/revoked-certificates.ts'
import {csrReference, EventReporter} from './kernel/events.ts'
import {DONE, type Reconcile, type ReconcileResult} from './kernel/work-queue.ts'
import {writeDecision} from './kernel/write-outcome.ts'
import {expectedLifetime, type SignersByName} from './signing/decide.ts'

/** Runs work on the same key in sequence; different keys do not wait for each other. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<void>>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    let done: () => void = () => undefined
    const mine = new Promise<void>((resolve) => {
      done = resolve
    })
    this.#last.set(key, mine)
    try {
      await before
      return await work()
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key)
      done()
    }
  }
}

/** Kubernetes' figures for requests that it knows but may not approve yet. */
const FIRST_WAIT = 200
const LONGEST_WAIT = 1_000_000

/** How long to wait before a key is checked again: twice as long each time, less up to a half, so that not all fall due together. */
export class KeyedBackoff {
  readonly #waits = new Map<string, number>()
  readonly #longest: number
  readonly #random: () => number

  /** `random` returns from 0 up to 1. */
  constructor(longest = LONGEST_WAIT, random = Math.random) {
    this.#longest = longest
    this.#random = random
  }

  next(key: string): number {
    const wait = this.#waits.get(key) ?? FIRST_WAIT
    this.#waits.set(key, Math.min(wait * 2, this.#longest))
    return wait * (1 - this.#random() / 2)
  }

  forget(key: string): void {
    this.#waits.delete(key)
  }
}

export type ReadableRequest = IndexedRequest & {
  requested: NonNullable<IndexedRequest['requested']>
}

/** What an approver wants done with an undecided request. */
type Judgement =
  | {decision: 'ignore'}
  /** Reported as an Event are the opinions in `reports`. */
  | {decision: 'hold'; reports: readonly ApproverOpinion[]}
  /** With `name`, the name is reserved first, by the record that was found. */
  | {decision: 'approve'; message: string; name?: {record: NodeRecord | undefined; now: Date}}

export type Judge = (
  request: ReadableRequest,
  about: {
    /** Whether its name was taken while the informer still showed it as free. */
    isOvertaken: boolean
    signal: AbortSignal
  },
) => Promise<Judgement>

interface ClientApprovalOptions {
  component: string
  judge: Judge
  requests: RequestIndex
  /** Where the records of names are looked up first. */
  findRecord: NameSources['findRecord']
  writer: Pick<ApiClient, 'csrs' | 'events' | 'configMaps' | 'secrets'>
  clock: Clock
  /** Those of this process. */
  signers: Live<SignersByName> | undefined
  /** Absent if the server has no list of revoked certificates. */
  revoked?: Pick<RevokedCertificates, 'opinionOn'> | undefined
  /** Absent if requests are approved whatever became of the bootstrap token that they were made with, as in Kubernetes. */
  tokens?: Pick<FollowedTokens, 'opinionOn'> | undefined
  /** Requests with the same turn are decided on one after the other; absent: those for one node. */
  turnOf?: (node: string) => Promise<string>
  /** How long a request that has to wait is left alone at most, in milliseconds. */
  longestWait?: number
}

const AFTER_CONFLICT = 50

/**
 * Decides on the client certificates of kubelets, one request of a node at a time, and keeps the records of their names: each
 * approver that gives out names has to write them before it approves, and after the certificate is issued.
 */
export class ClientApproval {
  readonly #options: ClientApprovalOptions
  readonly #events: EventReporter
  /** Of requests that this process has approved and that are not issued yet, by name. */
  readonly #expectations = new Map<string, Expectation & {node: string}>()
  /** Requests whose name was taken while the informer still showed it as free. */
  readonly #overtaken = new Set<string>()
  readonly #turns = new KeyedQueue()
  readonly #backoff: KeyedBackoff

  constructor(options: ClientApprovalOptions) {
    this.#options = options
    this.#events = new EventReporter(options.writer, options.component, options.clock)
    this.#backoff = new KeyedBackoff(options.longestWait)
  }

  readonly reconcile: Reconcile = async (name, signal) => {
    const {requests, turnOf} = this.#options
    const node = (await requests.nodeOf(name)) ?? this.#expectations.get(name)?.node
    if (node === undefined) return this.#done(name)
    const turn = turnOf === undefined ? node : await turnOf(node)
    // One request of a node at a time: the second request for a name must see the outcome of the first.
    return await this.#turns.run(turn, async () => {
      const request = await requests.find(name)
      await this.#record(name, request, signal)
      if (request?.requested?.node !== node) return this.#done(name)
      return await this.#decide(name, {...request, requested: request.requested}, signal)
    })
  }

  /** Updates the record of the name with the outcome of the request. */
  async #record(name: string, request: IndexedRequest | undefined, signal: AbortSignal) {
    const {writer, clock} = this.#options
    const expectation = this.#expectations.get(name)
    const now = clock.now()
    const {issued, requested: {node} = {}} = request ?? {}
    if (issued !== undefined && node !== undefined) {
      if (expectation === undefined && (await this.#isRecorded(node, issued, now))) return
      await saveIssued(writer, node, issued, {...expectation, now, signal})
    } else if (expectation !== undefined && request?.isApproved !== true) {
      await doubtExpected(writer, expectation.node, expectation, {now, signal})
    } else return
    this.#expectations.delete(name)
  }

  async #isRecorded(node: string, issued: IssuedIdentity, now: Date): Promise<boolean> {
    const record = await this.#options.findRecord(node)
    return record !== undefined && recordIssued(record.object, issued, now) === undefined
  }

  #done(name: string): ReconcileResult {
    this.#backoff.forget(name)
    this.#overtaken.delete(name)
    return DONE
  }

  async #decide(
    name: string,
    request: ReadableRequest,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const {csr, isApproved} = request
    if (isApproved || !isOpen(csr)) return this.#done(name)
    const isOvertaken = this.#overtaken.has(name)
    const judgement = await this.#judge(request, {isOvertaken, signal})
    if (judgement.decision === 'ignore') return this.#done(name)
    if (judgement.decision === 'approve') return await this.#approve(request, judgement, signal)
    for (const {reason = '', ...opinion} of judgement.reports) {
      const message = `left pending: ${objections(opinion)}`
      await this.#events.report(csrReference(csr), {type: 'Warning', reason, message}, {signal})
    }
    // Permissions may be granted later, and names may become free.
    return {requeueAfter: this.#backoff.next(name)}
  }

  async #judge(request: ReadableRequest, about: Parameters<Judge>[1]): Promise<Judgement> {
    const {revoked, component, judge, writer, findRecord, tokens, clock} = this.#options
    const {csr, requested} = request
    const opinion = await revoked?.opinionOn(component, csr, requested, findRecord)
    if (opinion !== undefined) return {decision: 'hold', reports: [opinion]}
    const judgement = await judge(request, about)
    if (judgement.decision !== 'approve') return judgement
    // Last, so that a credential that was revoked a moment ago counts, and only requests that would be approved cost a look.
    const objection =
      (await credentialObjection(component, writer, csr, {signal: about.signal})) ??
      (await tokens?.opinionOn(component, csr, {now: clock.now(), signal: about.signal}))
    return objection === undefined ? judgement : {decision: 'hold', reports: [objection]}
  }

  async #approve(
    request: ReadableRequest,
    {message, name: reserved}: Extract<Judgement, {decision: 'approve'}>,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    if (reserved !== undefined && !(await this.#reserve(request, reserved, signal))) {
      return {requeueAfter: AFTER_CONFLICT}
    }
    const {writer, requests} = this.#options
    const {csr} = request
    const condition = {type: 'Approved' as const, reason: 'AutoApproved', message}
    if (await writeDecision(writer, csr, condition, {signal})) requests.approved(csr)
    return this.#done(csr.metadata.name ?? '')
  }

  /** Returns false if the name must be checked again because its record has changed. */
  async #reserve(
    {csr, requested: {node = '', pin}}: ReadableRequest,
    {record, now}: {record: NodeRecord | undefined; now: Date},
    signal: AbortSignal,
  ): Promise<boolean> {
    const {writer, signers} = this.#options
    if (record !== undefined && isKeyOf(record, pin, now)) return true
    const {username: requester = ''} = csr.spec
    const signer = signers?.current.get(KUBELET_CLIENT)
    const lifetime = expectedLifetime(signer, csr, now)
    const issuer = signer && formatName(signer.issuer.certificate.subject)
    const reservation = {node, pin, requester, record, issuer, lifetime}
    const reserved = await reserveName(writer, reservation, {now, signal})
    const {name = ''} = csr.metadata
    if (reserved === false) this.#overtaken.add(name)
    else if (reserved.expectation) this.#expectations.set(name, {...reserved.expectation, node})
    return reserved !== false
  }
}
