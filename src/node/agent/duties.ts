import {setMaxListeners} from 'node:events'
import {messageOf, TrustError, type ErrorCode} from '../../errors.ts'
import {sleep, type Clock} from '../../runtime.ts'

/** Something that an agent does whenever it is due. */
export interface Duty {
  /** What it is for, as in "renewing the client certificate". */
  name: string
  /** When to do it next; undefined for not at all. Asked again and again, so that clock jumps do not matter. */
  nextAt: () => Date | undefined
  /** Asked once the time has come: whether there is something to do at all. Absent: always. */
  isDue?: () => Promise<boolean>
  /** A failure is reported. `nextAt` has to say when to try again. */
  work: (signal: AbortSignal) => Promise<void>
}

export interface DutyOptions {
  clock: Clock
  log: (line: string) => void
  /** Milliseconds between two looks at the clock. */
  tick?: number | undefined
}

const TICK = 1000

/** Reports each failure once, until its reason changes, and when it is over. */
export class Troubles {
  readonly #log: (line: string) => void
  readonly #reasons = new Map<string, ErrorCode | 'unknown'>()

  constructor(log: (line: string) => void) {
    this.#log = log
  }

  failed(what: string, error: unknown): void {
    const reason = error instanceof TrustError ? error.code : 'unknown'
    if (this.#reasons.get(what) === reason) return
    this.#reasons.set(what, reason)
    this.#log(`error: ${what}: ${messageOf(error)}`)
    for (const hint of error instanceof TrustError ? error.suggestions : []) this.#log(`  ${hint}`)
  }

  succeeded(what: string): void {
    if (this.#reasons.delete(what)) this.#log(`${what} works again`)
  }
}

/** Does one duty if it is due. */
async function attend(
  {name, nextAt, isDue, work}: Duty,
  troubles: Troubles,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  try {
    const at = nextAt()
    if (!at || at > clock.now() || (isDue && !(await isDue()))) return
    await work(signal)
    troubles.succeeded(name)
  } catch (error) {
    if (!signal.aborted) troubles.failed(name, error)
  }
}

/** Does the duties, independently of each other, until the signal. */
export async function attendAll(
  duties: readonly Duty[],
  {clock, log, tick = TICK}: DutyOptions,
  signal: AbortSignal,
): Promise<void> {
  const troubles = new Troubles(log)
  // Each duty listens to it, and so does each of its requests.
  setMaxListeners(0, signal)
  await Promise.all(
    duties.map(async (duty) => {
      while (!signal.aborted) {
        await attend(duty, troubles, clock, signal)
        await sleep(tick, signal).catch(() => undefined)
      }
    }),
  )
}

/** Does once what is due now, in order. Throws the first failure, after the rest was done too. */
export async function attendOnce(
  duties: readonly Duty[],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const failures: unknown[] = []
  for (const {nextAt, isDue, work} of duties) {
    // A second time if that made it due again: a certificate for an old key is renewed at once.
    for (let times = 0; times < 2; times += 1) {
      try {
        const at = nextAt()
        if (!at || at > clock.now() || (isDue && !(await isDue()))) break
        await work(signal)
      } catch (error) {
        signal.throwIfAborted()
        failures.push(error)
        break
      }
    }
  }
  if (failures.length > 0) throw failures[0]
}
