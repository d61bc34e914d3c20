import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {stateOf} from '../../csr/conditions.ts'

/** How many certificate requests of each requester nobody has decided on, counted as they come and go. */
export class PendingRequests {
  /** Who made each pending request, by its name. */
  readonly #requesters = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  /** A request is there, new or changed. */
  set(name: string, csr: CertificateSigningRequest): void {
    this.delete(name)
    if (stateOf(csr) !== 'Pending') return
    const {username = ''} = csr.spec
    this.#requesters.set(name, username)
    this.#counts.set(username, this.countOf(username) + 1)
  }

  /** A request is gone. */
  delete(name: string): void {
    const username = this.#requesters.get(name)
    if (username === undefined) return
    this.#requesters.delete(name)
    const left = this.countOf(username) - 1
    if (left === 0) this.#counts.delete(username)
    else this.#counts.set(username, left)
  }

  countOf(username: string): number {
    return this.#counts.get(username) ?? 0
  }
}
