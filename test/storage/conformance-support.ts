import type {PastEvent, Storage, StorageEvent, Subscriber} from '../../src/storage/storage.ts'

/** An empty store, opened for the suite. */
export interface Opened {
  storage: Storage
  /** The same store as another process sees it; the same handle for a driver that has one process only. */
  other?: Storage
  compact: (revision: number) => Promise<void>
  /** The largest value to try, by default three mebibytes. */
  largest?: number
  /** Closes the other handle and throws the files away; the suite closes `storage`. */
  dispose: () => Promise<void>
}

export type Subject = Required<Pick<Opened, 'storage' | 'other' | 'compact'>>

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (value: Uint8Array | undefined): string => new TextDecoder().decode(value)

/** The changes above a revision, up to now. */
export async function changesSince(
  storage: Storage,
  prefix: string,
  since: number,
): Promise<PastEvent[]> {
  const events: PastEvent[] = []
  const until = await storage.revision()
  const {signal} = new AbortController()
  for await (const batch of storage.history(prefix, since, until, signal)) events.push(...batch)
  return events
}

/** Keeps what it is told. */
export class Recorder implements Subscriber {
  readonly events: StorageEvent[] = []
  readonly batches: number[] = []
  reached = 0
  isLost = false
  #wake: () => void = () => undefined

  advance(revision: number, events: StorageEvent[]): void {
    this.reached = revision
    this.events.push(...events)
    if (events.length > 0) this.batches.push(events.length)
    this.#wake()
  }

  lost(): void {
    this.isLost = true
    this.#wake()
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => (this.#wake = resolve))
  }
}

export const revisionsOf = (events: StorageEvent[]) => events.map(({revision}) => revision)

/** What a past state holds. */
export async function stateAt(
  storage: Storage,
  prefix: string,
  revision: number,
): Promise<string[]> {
  const {entries} = await storage.list(prefix, {revision})
  return entries.map(({key, value}) => `${key}=${text(value)}`)
}
