import type {Line, ProcessorSlice} from './processor-slice.ts'

/** Who waits: a kind of callers, one of them, one of its connections. */
export type Path = readonly string[]

/** Beyond it, whoever has most waiting loses its newest. */
const MOST_WAITING = 20_000
/** In milliseconds: how long a piece of long work may take. */
const PIECE = 2

/** Called between the steps of long work; from time to time there is something to wait for. */
export type Pause = () => Promise<void> | undefined

interface Waiting {
  path: Path
  start: () => void
  /** Others need its place. */
  drop: () => void
}

/** What waits below a step of a path; branches are in the order of service. */
interface Branch {
  size: number
  branches: Map<string, Branch>
  waiting: Waiting[]
}

const emptyBranch = (): Branch => ({size: 0, branches: new Map(), waiting: []})

/**
 * Pieces of work that wait for time in a turn of the event loop. Kinds of callers are served in turn, within a kind its callers, and of a caller
 * its connections: whatever others have waiting, one waits for no more than one of each of them.
 */
export class Turns implements Line {
  readonly #slice: ProcessorSlice
  readonly #most: number
  readonly #root = emptyBranch()

  constructor(slice: ProcessorSlice, most = MOST_WAITING) {
    this.#slice = slice
    this.#most = most
  }

  get waiting(): number {
    return this.#root.size
  }

  /** Returns at once if nobody waits and there is time; else waits for a turn. Throws the signal's reason. */
  async wait(path: Path, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#root.size === 0 && this.#slice.take()) return
    await this.next(path, signal)
  }

  /** Waits for a turn, also if nobody else waits. */
  next(path: Path, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => signal.removeEventListener('abort', giveUp)
      const giveUp = () => {
        this.#remove(waiting)
        waiting.drop()
      }
      const waiting: Waiting = {
        path,
        start: () => {
          leave()
          resolve()
        },
        drop: () => {
          leave()
          reject((signal.reason as Error | undefined) ?? new Error('others need the place'))
        },
      }
      signal.addEventListener('abort', giveUp, {once: true})
      this.#add(waiting)
      if (this.#root.size > this.#most) this.#dropOne()
      this.#slice.serve(this)
    })
  }

  /** For long work of a caller, which gets as much time as others who have some. */
  pauses(path: Path, signal: AbortSignal): Pause {
    let began = performance.now()
    return () => {
      if (performance.now() - began < PIECE) return undefined
      return this.next(path, signal).then(() => {
        began = performance.now()
      })
    }
  }

  startNext(): boolean {
    if (this.#root.size === 0) return false
    const waiting = takeNext(this.#root)
    waiting?.start()
    return waiting !== undefined
  }

  #add(waiting: Waiting): void {
    let branch = this.#root
    branch.size += 1
    for (const step of waiting.path) {
      const next = branch.branches.get(step) ?? emptyBranch()
      branch.branches.set(step, next)
      branch = next
      branch.size += 1
    }
    branch.waiting.push(waiting)
  }

  #remove(waiting: Waiting, branch = this.#root, depth = 0): void {
    const step = waiting.path[depth]
    if (step === undefined) branch.waiting.splice(branch.waiting.indexOf(waiting), 1)
    else {
      const next = branch.branches.get(step)
      if (next === undefined) return
      this.#remove(waiting, next, depth + 1)
      if (next.size === 0) branch.branches.delete(step)
    }
    branch.size -= 1
  }

  #dropOne(): void {
    let branch = this.#root
    while (branch.branches.size > 0)
      branch = [...branch.branches.values()].reduce((most, one) =>
        one.size > most.size ? one : most,
      )
    const newest = branch.waiting.at(-1)
    if (newest === undefined) return
    this.#remove(newest)
    newest.drop()
  }
}

/** The first of the branch whose turn it is, which goes behind the others. */
function takeNext(branch: Branch): Waiting | undefined {
  const [first] = branch.branches
  if (first === undefined) {
    if (branch.waiting.length === 0) return undefined
    branch.size -= 1
    return branch.waiting.shift()
  }
  const [step, next] = first
  branch.branches.delete(step)
  const taken = takeNext(next)
  if (next.size > 0) branch.branches.set(step, next)
  branch.size -= 1
  return taken
}
