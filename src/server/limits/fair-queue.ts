import {tooManyRequests} from '../kernel/status.ts'
import type {Line, ProcessorSlice} from './processor-slice.ts'
import type {Member} from './shared-pool.ts'

export interface FairQueueOptions {
  total: number
  perHolder: number
  /** The part of the total that is reserved for the group. */
  reserves: Readonly<Record<string, number>>
  /** How many of one member, and of one group, may wait. */
  waitingPerHolder: number
  waitingPerGroup: number
  /** How long one may wait; 0 refuses at once. */
  waitMilliseconds: number
  /** Limits how much of it starts in one turn of the event loop. */
  slice?: ProcessorSlice
}

interface Group {
  name: string
  reserve: number
  taken: number
  waiting: number
  /** In the order of service. */
  queues: Map<string, Waiting[]>
}

interface Waiting {
  start: () => void
}

const BUSY_SECONDS = 1
/** In milliseconds. The longest wait for the event loop, even if waiting for a slot is not allowed. */
const WAIT_FOR_LOOP = 5000

/**
 * Slots for short work. If none is free, callers wait for a short time. The group with the fewest slots is next, and within
 * it each caller in turn, however many requests it has queued. As Kubernetes' priority and fairness.
 */
export class FairQueue implements Line {
  readonly #options: FairQueueOptions
  readonly #groups = new Map<string, Group>()
  readonly #held = new Map<string, number>()
  #taken = 0

  constructor(options: FairQueueOptions) {
    this.#options = options
    for (const [name, share] of Object.entries(options.reserves)) {
      const reserve = Math.floor(options.total * share)
      this.#groups.set(name, {name, reserve, taken: 0, waiting: 0, queues: new Map()})
    }
  }

  get taken(): number {
    return this.#taken
  }

  /** Members that hold a slot; the others take no memory. */
  get holders(): number {
    return this.#held.size
  }

  get waiting(): number {
    return [...this.#groups.values()].reduce((sum, {waiting}) => sum + waiting, 0)
  }

  /** Waits for a slot and returns the function that releases it. Throws TooManyRequests. */
  take({group: groupName, name}: Member, signal: AbortSignal): Promise<() => void> | (() => void) {
    const group = this.#groups.get(groupName)
    if (group === undefined) throw new Error(`no such group: ${groupName}`)
    // A caller's own requests stay in order. Others of its group wait only if no slot is free.
    const {slice, waitMilliseconds, waitingPerGroup, waitingPerHolder} = this.#options
    const mayStart = this.#freeSlots(group, name) > 0 && this.#hasRoom(group)
    if (mayStart && !group.queues.has(name) && (slice?.take() ?? true)) {
      return this.#give(group, name)
    }
    const queue = group.queues.get(name) ?? []
    // Those that wait only for the next turn of the event loop do not count.
    const most = waitingPerHolder + (mayStart ? this.#freeSlots(group, name) : 0)
    const isFull = group.waiting >= waitingPerGroup || queue.length >= most
    if (isFull || (waitMilliseconds === 0 && !mayStart)) throw tooManyRequests(BUSY_SECONDS)
    if (mayStart) slice?.serve(this)
    return this.#wait(group, name, queue, signal)
  }

  #wait(group: Group, name: string, queue: Waiting[], signal: AbortSignal): Promise<() => void> {
    group.queues.set(name, queue)
    group.waiting++
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        group.waiting--
        queue.splice(queue.indexOf(waiting), 1)
        if (queue.length === 0) group.queues.delete(name)
      }
      const giveUp = () => {
        leave()
        reject(tooManyRequests(BUSY_SECONDS))
      }
      const waiting: Waiting = {
        start: () => {
          leave()
          resolve(this.#give(group, name))
        },
      }
      const timer = setTimeout(giveUp, Math.max(this.#options.waitMilliseconds, WAIT_FOR_LOOP))
      queue.push(waiting)
      signal.addEventListener('abort', giveUp, {once: true})
      if (signal.aborted) giveUp()
    })
  }

  #freeSlots(group: Group, name: string): number {
    return this.#options.perHolder - (this.#held.get(heldKey(group, name)) ?? 0)
  }

  #hasRoom(group: Group): boolean {
    if (group.taken < group.reserve) return true
    let kept = 0
    for (const other of this.#groups.values()) {
      if (other !== group) kept += Math.max(0, other.reserve - other.taken)
    }
    return this.#taken + kept < this.#options.total
  }

  #give(group: Group, name: string): () => void {
    const key = heldKey(group, name)
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1)
    group.taken++
    this.#taken++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      group.taken--
      this.#taken--
      const left = (this.#held.get(key) ?? 1) - 1
      if (left === 0) this.#held.delete(key)
      else this.#held.set(key, left)
      if (!this.#isAwaited()) return
      if (this.#options.slice === undefined) this.startNext()
      else this.#options.slice.serve(this)
    }
  }

  /** Mostly nobody waits: then a slot that becomes free needs no turn of the event loop. */
  #isAwaited(): boolean {
    for (const {waiting} of this.#groups.values()) if (waiting > 0) return true
    return false
  }

  startNext(): boolean {
    const groups = [...this.#groups.values()].filter(({waiting}) => waiting > 0)
    for (const group of groups.sort((a, b) => a.taken - b.taken)) {
      if (!this.#hasRoom(group)) continue
      for (const [name, queue] of group.queues) {
        if (this.#freeSlots(group, name) <= 0) continue
        // It goes behind the others of its group, and its group behind those with as few slots.
        group.queues.delete(name)
        if (queue.length > 1) group.queues.set(name, queue)
        this.#groups.delete(group.name)
        this.#groups.set(group.name, group)
        queue[0]?.start()
        return true
      }
    }
    return false
  }
}

const heldKey = ({name: group}: Group, name: string) => `${group} ${name}`
