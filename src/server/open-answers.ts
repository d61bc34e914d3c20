import {setImmediate as nextTurn} from 'node:timers/promises'
import type {UserInfo} from '../api/meta.ts'
import {every, type Clock} from '../runtime.ts'
import type {ApiRequest} from './kernel/api-request.ts'
import type {Authenticate, Authenticated} from './authn/authenticator.ts'
import {StatusError, unauthorized} from './kernel/status.ts'

/** A response that is still open: a watch, or a long list that is read slowly. */
export interface OpenAnswer {
  request: ApiRequest
  caller: UserInfo
  /** The user that the request acts as. */
  effective: UserInfo
  /** When the caller's credential expires. */
  expires?: Date | undefined
  /** The number of changes when the request was first checked. */
  changes: number
  /** Throws Forbidden if the caller may no longer read the response. */
  authorize: (caller: UserInfo) => void
  /** Ends the response. */
  end: (error: StatusError) => void
}

/** Whose responses a change may concern. */
export type Concerned = 'all' | 'bearers' | {user: string}

const nobody = () => ({
  isAnybody: false,
  all: false,
  bearers: false,
  users: new Set<string>(),
})

/** Changes are checked at once, and those that follow within this time together. */
const TICK = 200
/**
 * How often a check is postponed because its address has no budget left. After that the response ends: nobody may keep it by
 * using up the budget.
 */
const MOST_PUT_OFF = 3
/** How many are checked before other work gets its turn. */
const AT_ONCE = 64

/**
 * Ends open responses whose callers would now be refused. The source of a change reports whom it may concern; those
 * responses are checked together, each credential once. Without a change only one date is compared.
 */
export class OpenAnswers {
  readonly #authenticate: Authenticate
  readonly #clock: Clock
  readonly #answers = new Set<OpenAnswer>()
  #concerned = nobody()
  /** Responses that opened during a change or whose check was postponed, and how often it was. */
  #late = new Map<OpenAnswer, number>()
  #earliest = Infinity
  #stop: (() => void) | undefined
  #isChecking = false
  #soon: NodeJS.Immediate | undefined
  /** No check before that, unless by the tick: checking everybody after each of many changes would leave no time for anything else. */
  #restsUntil = 0
  changes = 0

  constructor(authenticate: Authenticate, clock: Clock) {
    this.#authenticate = authenticate
    this.#clock = clock
  }

  /** Tracks a response until the returned function is called. */
  add(answer: OpenAnswer): () => void {
    this.#answers.add(answer)
    if (answer.changes !== this.changes) this.#late.set(answer, 0)
    this.#earliest = Math.min(this.#earliest, answer.expires?.getTime() ?? Infinity)
    // One tick for all instead of a timer for each: credentials also expire when the clock is set.
    this.#stop ??= every(TICK, () => this.#tick())
    return () => this.#remove(answer)
  }

  /** Something has changed that may revoke a right or a credential. */
  changed(concerned: Concerned): void {
    this.changes++
    if (this.#answers.size === 0) return
    if (typeof concerned === 'object') this.#concerned.users.add(concerned.user)
    else this.#concerned[concerned] = true
    this.#concerned.isAnybody = true
    this.#checkSoon()
  }

  /** Ends every response of a caller outside this process: nobody knows any more whether they may read it. */
  endAll(error: StatusError): void {
    for (const answer of this.#answers) {
      if (answer.request.caller !== undefined) continue
      this.#remove(answer)
      answer.end(error)
    }
  }

  close(): void {
    this.#stop?.()
    clearImmediate(this.#soon)
    this.#answers.clear()
  }

  /** In this turn of the event loop all changes of a commit arrive. Many commits in a row are left to the tick. */
  #checkSoon(): void {
    if (this.#soon !== undefined || performance.now() < this.#restsUntil) return
    this.#soon = setImmediate(() => {
      this.#soon = undefined
      // The next tick fails alike, and is reported.
      this.#tick().catch(() => undefined)
    })
  }

  #remove(answer: OpenAnswer): void {
    this.#answers.delete(answer)
    if (this.#answers.size > 0) return
    this.#stop?.()
    this.#stop = undefined
    this.#earliest = Infinity
  }

  async #tick(): Promise<void> {
    const now = this.#clock.now().getTime()
    const isExpired = this.#earliest < now
    const isChanged = this.#concerned.isAnybody || this.#late.size > 0
    if (this.#isChecking || (!isChanged && !isExpired)) return
    this.#isChecking = true
    try {
      await this.#checkDue(now)
    } catch (error) {
      // Those that it did not reach are checked at the next tick.
      this.#concerned.all = this.#concerned.isAnybody = true
      throw error
    } finally {
      this.#isChecking = false
    }
  }

  async #checkDue(now: number): Promise<void> {
    const late = this.#late
    this.#late = new Map()
    const due = this.#due(now, late)
    const credentials = new Map<string, Promise<Authenticated>>()
    for (let at = 0; at < due.length; at += AT_ONCE) {
      const some = due.slice(at, at + AT_ONCE)
      await Promise.all(
        some.map((answer) => this.#check(answer, late.get(answer) ?? 0, credentials)),
      )
      await nextTurn()
    }
    this.#earliest = Infinity
    for (const {expires} of this.#answers) {
      this.#earliest = Math.min(this.#earliest, expires?.getTime() ?? Infinity)
    }
    this.#restsUntil = performance.now() + TICK
  }

  #due(now: number, late: ReadonlyMap<OpenAnswer, number>): OpenAnswer[] {
    const {all, bearers, users} = this.#concerned
    this.#concerned = nobody()
    return [...this.#answers].filter(
      (answer) =>
        all ||
        late.has(answer) ||
        (bearers && answer.request.headers.authorization !== undefined) ||
        users.has(answer.effective.username) ||
        (answer.expires?.getTime() ?? Infinity) < now,
    )
  }

  async #check(
    answer: OpenAnswer,
    putOff: number,
    credentials: Map<string, Promise<Authenticated>>,
  ) {
    const {request, caller} = answer
    try {
      const {user, expires} = await this.#authenticatedOnce(request, credentials)
      // Another credential of the same request does not replace the revoked one.
      if (user.username !== caller.username) throw unauthorized()
      answer.expires = expires
      answer.authorize(user)
    } catch (error) {
      if (!this.#answers.has(answer)) return
      if (error instanceof StatusError && error.code === 429 && putOff < MOST_PUT_OFF) {
        // There were too many to check at once.
        this.#late.set(answer, putOff + 1)
        return
      }
      this.#remove(answer)
      answer.end(error instanceof StatusError ? error : unauthorized(error))
    }
  }

  #authenticatedOnce(request: ApiRequest, credentials: Map<string, Promise<Authenticated>>) {
    if (request.caller !== undefined) return this.#authenticate(request)
    const key = `${request.peer?.fingerprint ?? ''} ${request.headers.authorization ?? ''}`
    const known = credentials.get(key) ?? this.#authenticate(request)
    credentials.set(key, known)
    return known
  }
}
