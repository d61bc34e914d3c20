/** What a key holds at a revision; without a value it is deleted, or was never there. */
export interface State {
  revision: number
  value?: string | undefined
}

interface Timed {
  /** Milliseconds of one clock; `end` is Infinity where no answer came. */
  start: number
  end: number
}

/** A read that was answered. */
export interface Read extends Timed {
  kind: 'read'
  key: string
  /** Undefined where the key was absent. */
  state: Required<State> | undefined
}

/** A write with a compare-and-swap on the revision of the state before; 0 creates. Without a value it deletes. */
export interface Write extends Timed {
  kind: 'write'
  key: string
  base: number
  value: string | undefined
  /** `acknowledged` is a promise, `refused` a denial; of `unknown` it is not known whether it was done. */
  outcome: 'acknowledged' | 'refused' | 'unknown'
  /** As the server answered; a deletion is answered without one. */
  revision?: number | undefined
}

export type Operation = Read | Write

/** A list: all keys as they were at one revision. */
export interface Listing extends Timed {
  revision: number
  states: ReadonlyMap<string, Required<State>>
}

/** What clients have asked and were answered. */
export class History {
  readonly operations: Operation[] = []
  readonly listings: Listing[] = []

  /** A list is also a read of every key. */
  list(listing: Listing, keys: readonly string[]): void {
    this.listings.push(listing)
    const {start, end, states} = listing
    for (const key of keys)
      this.operations.push({kind: 'read', key, start, end, state: states.get(key)})
  }
}
