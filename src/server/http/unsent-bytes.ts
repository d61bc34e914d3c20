import {every} from '../../runtime.ts'

/** In milliseconds. Whoever reads at all has read a piece by then. */
const PATIENCE = 1000

/** A response whose caller has not read all of it. */
interface Unread {
  drop(): void
  /** Its caller has left: nothing tells of the end of a response that waits behind another on its connection. */
  isOver(): boolean
}

interface Piece extends Unread {
  bytes: number
  since: number
}

/**
 * What Node.js holds because callers have not read it yet. The next event of a watch is handed over at once; a caller
 * that opens many and reads none would fill memory with them. If there is too much, those that have waited
 * longest are dropped, but nobody who has waited for less than a second.
 */
export class UnsentBytes {
  readonly #most: number
  /** The oldest first. */
  readonly #pieces = new Set<Piece>()
  #bytes = 0
  #stop: (() => void) | undefined

  constructor(most: number) {
    this.#most = most
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Counts bytes until the returned function is called. */
  hold(bytes: number, {drop, isOver}: Unread): () => void {
    const piece = {bytes, since: performance.now(), drop, isOver}
    this.#pieces.add(piece)
    this.#bytes += bytes
    this.#stop ??= every(PATIENCE, () => this.#dropSlowest())
    return () => this.#forget(piece)
  }

  #forget(piece: Piece): void {
    if (this.#pieces.delete(piece)) this.#bytes -= piece.bytes
  }

  #dropSlowest(): void {
    const latest = performance.now() - PATIENCE
    for (const piece of this.#pieces) {
      if (piece.since > latest) break
      if (this.#bytes <= this.#most && !piece.isOver()) continue
      this.#forget(piece)
      piece.drop()
    }
    if (this.#pieces.size > 0) return
    this.#stop?.()
    this.#stop = undefined
  }
}
