import type {Dependent} from '../../control-plane/ca-rotation/dependent.ts'

const MOST_NAMES = 3
const MINUTE = 60
const HOUR = 60 * MINUTE

/** Rounded: it is an estimate. */
function formatRemaining(seconds: number | undefined): string {
  if (seconds === undefined) return 'remaining time unknown'
  if (seconds < MINUTE) return `about ${seconds} s left`
  if (seconds < 2 * HOUR) return `about ${Math.ceil(seconds / MINUTE)} min left`
  return `about ${Math.ceil(seconds / HOUR)} h left`
}

export interface Waiting {
  /** Nodes that have followed, of all. */
  nodes: {done: number; total: number}
  names: readonly string[]
  /** In seconds; undefined if it is not known. */
  remaining: number | undefined
}

/** Who is waited for, in one line. */
export function waitingText({nodes: {done, total}, names, remaining}: Waiting): string {
  const shown = names.slice(0, MOST_NAMES).join(', ')
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  const count =
    done < total ? `${done} of ${total} nodes done, ${formatRemaining(remaining)}; ` : ''
  return `${count}waiting for ${shown}${more}`
}

/** Milliseconds after which somebody who is waited for is shown with the reason, and again if that changes. */
const SILENCE = 10_000

/** Says why a wait lasts: each time a sentence about the first ones that do not get on. */
export class WaitingReasons {
  readonly #now: () => number
  readonly #since = new Map<string, number>()
  readonly #told = new Set<string>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** What is to be told about these now, who are still waited for. */
  observe(dependents: readonly Dependent[]): string[] {
    const texts = new Set(
      dependents.map(
        ({kind, name, reasons, todo}) => `${kind} ${name}: ${reasons.join('; ')}; ${todo}`,
      ),
    )
    for (const text of this.#since.keys()) if (!texts.has(text)) this.#since.delete(text)
    const due: string[] = []
    for (const text of texts) {
      const since = this.#since.get(text) ?? this.#now()
      this.#since.set(text, since)
      if (this.#now() - since >= SILENCE && !this.#told.has(text)) due.push(text)
      if (due.length === MOST_NAMES) break
    }
    for (const text of due) this.#told.add(text)
    return due.map((text) => `still waiting for ${text}`)
  }
}
