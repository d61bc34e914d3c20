/** The most history that readers of past revisions may keep from being dropped. */
const MOST = {changes: 500_000, bytes: 512 * 1_024 * 1_024}

/** A revision that stays readable until it is released. */
export interface HeldRevision {
  revision: number
  release: () => void
}

/** The revisions that someone reads: history after them is not dropped, up to a limit. */
export class HeldRevisions {
  readonly #held = new Set<{revision: number}>()

  hold(revision: number): HeldRevision {
    const held = {revision}
    this.#held.add(held)
    return {revision, release: () => void this.#held.delete(held)}
  }

  /** Up to where history may be dropped instead, if `history` bytes of it are there and `newest` is the newest revision. */
  allowed(wanted: number, {newest, history}: {newest: number; history: number}): number {
    if (history > MOST.bytes) return wanted
    const held = [...this.#held].map(({revision}) => revision)
    return Math.min(wanted, ...held.filter((revision) => newest - revision <= MOST.changes))
  }
}
