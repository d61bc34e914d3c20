import {setImmediate as nextTurn} from 'node:timers/promises'
import type {UserInfo} from '../api/meta.ts'
import type {Clock} from '../runtime.ts'
import type {ApiRequest} from './kernel/api-request.ts'
import type {Authenticate, Authenticated} from './authn/authenticator.ts'
import {StatusError, unauthorized} from './kernel/status.ts'

/** An answer that goes on: a watch, or a long list that is read slowly. */
export interface OpenAnswer {
  request: ApiRequest
  caller: UserInfo
  /** Whom the request counts as. */
  effective: UserInfo
  /** From when on the caller's credential is refused. */
  expires?: Date | undefined
  /** How many changes there had been when the request was looked at first. */
  changes: number
  /** Throws Forbidden if the caller may no longer have the answer. */
  authorize: (caller: UserInfo) => void
  /** Ends the answer. */
  end: (error: StatusError) => void
}

/** Whose answers a change may concern. */
export type Concerned = 'all' | 'bearers' | {user: string}

const nobody = () => ({
  isAnybody: false,
  all: false,
  bearers: false,
  users: new Set<string>(),
})

const TICK = 200
/** How often a check is put off that its address has no budget for: whoever spends that must not keep an answer by it. */
const MOST_PUT_OFF = 3
/** So many are looked at before others get their turn. */
const AT_ONCE = 64

/**
 * Ends open responses once their callers would now be refused: whoever knows of a change tells whom it may concern, and those
 * are checked together, each credential once. Without a change there is nothing to do but to compare one date.
 */
export class OpenAnswers {
  readonly #authenticate: Authenticate
  readonly #clock: Clock
  readonly #answers = new Set<OpenAnswer>()
  #concerned = nobody()
  /** Answers that a change came too early for, with how often their check was put off. */
  #late = new Map<OpenAnswer, number>()
  #earliest = Infinity
  #timer: NodeJS.Timeout | undefined
  #isChecking = false
  changes = 0

  constructor(authenticate: Authenticate, clock: Clock) {
    this.#authenticate = authenticate
    this.#clock = clock
  }

  /** Watches over an answer until the returned function is called. */
  add(answer: OpenAnswer): () => void {
    this.#answers.add(answer)
    if (answer.changes !== this.changes) this.#late.set(answer, 0)
    this.#earliest = Math.min(this.#earliest, answer.expires?.getTime() ?? Infinity)
    // A tick instead of one timer for each: dates also pass by a clock that is set.
    this.#timer ??= setInterval(() => void this.#tick(), TICK).unref()
    return () => this.#remove(answer)
  }

  /** Something has changed that may take a right or a credential away. */
  changed(concerned: Concerned): void {
    this.changes++
    if (this.#answers.size === 0) return
    if (typeof concerned === 'object') this.#concerned.users.add(concerned.user)
    else this.#concerned[concerned] = true
    this.#concerned.isAnybody = true
  }

  close(): void {
    clearInterval(this.#timer)
    this.#answers.clear()
  }

  #remove(answer: OpenAnswer): void {
    this.#answers.delete(answer)
    if (this.#answers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#earliest = Infinity
  }

  async #tick(): Promise<void> {
    const now = this.#clock.now().getTime()
    const isExpired = this.#earliest < now
    const isChanged = this.#concerned.isAnybody || this.#late.size > 0
    if (this.#isChecking || (!isChanged && !isExpired)) return
    this.#isChecking = true
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
    this.#isChecking = false
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
      // Another credential of the same request does not make up for the one that is gone.
      if (user.username !== caller.username) throw unauthorized()
      answer.expires = expires
      answer.authorize(user)
    } catch (error) {
      if (!this.#answers.has(answer)) return
      if (error instanceof StatusError && error.code === 429 && putOff < MOST_PUT_OFF) {
        // There were too many to be checked at once.
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
