import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {UserInfo} from '../../api/meta.ts'
import {bootstrapperNamespaceOf} from '../../csr/bootstrapper.ts'
import {credentialOf} from '../../csr/user-extra.ts'
import {stateOf} from '../../csr/conditions.ts'
import {nodeOfUser} from '../../csr/node-names.ts'
import {commonNameIn} from '../../csr/read-request.ts'

const HOUR = 3_600_000

/** What the certificate requests of one requester take. */
export interface Usage {
  /** Undecided requests. */
  pending: number
  /** How many of them are for each node. */
  pendingFor: ReadonlyMap<string, number>
  /** The bytes of all stored requests, decided or not. */
  bytes: number
  /** When those of the last hour were created, oldest first. */
  made: readonly number[]
}

type Requester = Partial<Pick<UserInfo, 'username' | 'extra'>>

/** A fleet is one user: each of its credentials counts by itself, so that a stolen one does not stop the one that replaces it. */
function requesterKey(requester: Requester): string {
  const {username = ''} = requester
  const isFleet = bootstrapperNamespaceOf(username) !== undefined
  return isFleet ? `${username} ${credentialOf(requester) ?? ''}` : username
}

/** The node that a request is for, whether or not it can be signed. */
export const askedNode = (csr: Partial<Pick<CertificateSigningRequest, 'spec'>>) =>
  nodeOfUser(commonNameIn(csr.spec?.request) ?? '')

interface Counted {
  uid: string | undefined
  requester: string
  pending: boolean
  /** The node that it is for, while it is pending. */
  node: string | undefined
  bytes: number
  /** What its requester had when it was created. */
  ahead: Ahead
}

/** The requests of a requester before one of them. */
export interface Ahead {
  pending: number
  /** Those that are pending for the same node. */
  forNode: number
  /** Those of the last hour. */
  made: number
  /** The bytes of all that were stored. */
  bytes: number
}

interface Totals {
  requests: number
  pending: number
  pendingFor: Map<string, number>
  bytes: number
  made: number[]
  /** Whether `made` is sorted. */
  inOrder: boolean
}

const emptyTotals = (): Totals => ({
  requests: 0,
  pending: 0,
  pendingFor: new Map(),
  bytes: 0,
  made: [],
  inOrder: true,
})
const NOTHING: Usage = {pending: 0, pendingFor: new Map(), bytes: 0, made: []}

/** What the certificate requests of each requester take, updated by events. */
export class RequestUsage {
  readonly #counted = new Map<string, Counted>()
  readonly #totals = new Map<string, Totals>()

  /** A request was created or changed, and takes this many bytes. */
  set(name: string, csr: CertificateSigningRequest, bytes: number): void {
    const {uid} = csr.metadata
    // One that has the name of another one came after that was deleted.
    if (this.#counted.get(name)?.uid !== uid) this.delete(name)
    const known = this.#counted.get(name)
    const requester = requesterKey(csr.spec)
    const totals = this.#totals.get(requester) ?? emptyTotals()
    this.#totals.set(requester, totals)
    const pending = stateOf(csr) === 'Pending'
    const node = pending ? (known?.node ?? askedNode(csr)) : undefined
    const ahead = known?.ahead ?? {
      pending: totals.pending,
      forNode: totals.pendingFor.get(node ?? '') ?? 0,
      made: totals.made.length,
      bytes: totals.bytes,
    }
    if (known === undefined) count(totals, Date.parse(csr.metadata.creationTimestamp ?? ''))
    const counted = {uid, requester, pending, node, bytes, ahead}
    add(totals, counted, 1)
    this.#forget(name)
    this.#counted.set(name, counted)
  }

  /** A request was deleted. Its creation still counts while its requester has other requests. */
  delete(name: string): void {
    this.#forget(name)
    this.#counted.delete(name)
  }

  /** What came before a request that was just created; undefined if it is not known here, but at most an older one of that name. */
  aheadOf(name: string, uid: string | undefined): Ahead | undefined {
    const counted = this.#counted.get(name)
    return counted?.uid === uid ? counted?.ahead : undefined
  }

  of(requester: Requester, now: Date): Usage {
    const totals = this.#totals.get(requesterKey(requester))
    if (totals === undefined) return NOTHING
    const {made} = totals
    if (!totals.inOrder) made.sort((one, other) => one - other)
    totals.inOrder = true
    let expired = 0
    while (expired < made.length && now.getTime() - (made[expired] ?? 0) >= HOUR) expired++
    if (expired > 0) made.splice(0, expired)
    return totals
  }

  #forget(name: string): void {
    const before = this.#counted.get(name)
    const totals = this.#totals.get(before?.requester ?? '')
    if (before === undefined || totals === undefined) return
    add(totals, before, -1)
    if (totals.requests === 0) this.#totals.delete(before.requester)
  }
}

/** Requests arrive in order, but are read from the store in the order of their names. */
function count(totals: Totals, time: number): void {
  const created = Number.isNaN(time) ? 0 : time
  if (created < (totals.made.at(-1) ?? 0)) totals.inOrder = false
  totals.made.push(created)
}

function add(
  totals: Totals,
  {pending, node, bytes}: Pick<Counted, 'pending' | 'node' | 'bytes'>,
  sign: 1 | -1,
): void {
  totals.requests += sign
  totals.bytes += sign * bytes
  if (pending) totals.pending += sign
  if (node === undefined) return
  const left = (totals.pendingFor.get(node) ?? 0) + sign
  if (left === 0) totals.pendingFor.delete(node)
  else totals.pendingFor.set(node, left)
}
