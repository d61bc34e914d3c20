import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {isOpen} from '../../csr/conditions.ts'
import type {IsLive} from './live-credential.ts'
import {isBootstrappers} from './machine-facts.ts'
import {makerOf, type Maker} from './request-index.ts'

type Csr = CertificateSigningRequest

const MINUTE = 60_000
const MINUTES = 60

/** A time that cannot be read counts as now: nothing may hide behind it. */
const minuteOf = ({metadata}: Csr): number => {
  const made = Date.parse(metadata.creationTimestamp ?? '')
  return Number.isNaN(made) ? Infinity : Math.floor(made / MINUTE)
}

/** Those that one credential has made in one minute. */
interface Group extends Maker {
  minute: number
  count: number
}

/** How many of the bootstrapper's requests of the last hour are undecided; counted by minutes, so that a flood costs nothing. */
export class RecentRequests {
  readonly #groupOf = new Map<string, string>()
  readonly #groups = new Map<string, Group>()

  /** Takes the newest state of a request; undefined if it was deleted. */
  see(name: string, csr: Csr | undefined): void {
    this.#forget(name)
    if (csr === undefined || !isBootstrappers(csr) || !isOpen(csr)) return
    const maker = makerOf(csr)
    const minute = minuteOf(csr)
    const key = JSON.stringify([String(minute), maker.requester, maker.credential])
    const group = this.#groups.get(key) ?? {...maker, minute, count: 0}
    group.count++
    this.#groups.set(key, group)
    this.#groupOf.set(name, key)
  }

  /** The names of all undecided ones, older than an hour too. */
  names(): Iterable<string> {
    return this.#groupOf.keys()
  }

  count(now: Date, isLive: IsLive): number {
    const oldest = Math.floor(now.getTime() / MINUTE) - MINUTES
    let sum = 0
    for (const group of this.#groups.values())
      if (group.minute >= oldest && isLive(group)) sum += group.count
    return sum
  }

  #forget(name: string): void {
    const key = this.#groupOf.get(name)
    const group = this.#groups.get(key ?? '')
    if (key === undefined || group === undefined) return
    this.#groupOf.delete(name)
    group.count--
    if (group.count === 0) this.#groups.delete(key)
  }
}
