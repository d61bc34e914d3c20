import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {stateOf} from '../../csr/conditions.ts'

const HOUR = 3_600_000

/** What the certificate requests of one requester take. */
export interface Usage {
  /** Undecided requests. */
  pending: number
  /** The bytes of all stored requests, decided or not. */
  bytes: number
  /** When those of the last hour were created, in no order. */
  made: readonly number[]
}

interface Counted {
  username: string
  pending: boolean
  bytes: number
}

interface Totals {
  requests: number
  pending: number
  bytes: number
  made: number[]
}

const NOTHING: Usage = {pending: 0, bytes: 0, made: []}

/** What the certificate requests of each requester take, updated by events. */
export class RequestUsage {
  readonly #counted = new Map<string, Counted>()
  readonly #totals = new Map<string, Totals>()

  /** A request was created or changed, and takes this many bytes. */
  set(name: string, csr: CertificateSigningRequest, bytes: number): void {
    const isNew = !this.#counted.has(name)
    const {username = ''} = csr.spec
    const totals = this.#totals.get(username) ?? {requests: 0, pending: 0, bytes: 0, made: []}
    this.#totals.set(username, totals)
    if (isNew) totals.made.push(Date.parse(csr.metadata.creationTimestamp ?? ''))
    const counted = {username, pending: stateOf(csr) === 'Pending', bytes}
    add(totals, counted, 1)
    this.#forget(name)
    this.#counted.set(name, counted)
  }

  /** A request was deleted. Its creation still counts while its requester has other requests. */
  delete(name: string): void {
    this.#forget(name)
    this.#counted.delete(name)
  }

  of(username: string, now: Date): Usage {
    const totals = this.#totals.get(username)
    if (totals === undefined) return NOTHING
    totals.made = totals.made.filter((time) => now.getTime() - time < HOUR)
    return totals
  }

  #forget(name: string): void {
    const before = this.#counted.get(name)
    const totals = this.#totals.get(before?.username ?? '')
    if (before === undefined || totals === undefined) return
    add(totals, before, -1)
    if (totals.requests === 0) this.#totals.delete(before.username)
  }
}

function add(totals: Totals, {pending, bytes}: Counted, sign: 1 | -1): void {
  totals.requests += sign
  totals.bytes += sign * bytes
  if (pending) totals.pending += sign
}
