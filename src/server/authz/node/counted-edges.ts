/** Counts how often each object leads to each node: an edge is removed with its last cause. */
export class CountedEdges {
  readonly #onLost: (node: string) => void
  readonly #counts = new Map<string, Map<string, number>>()

  /** `onLost` is called with a node that an object no longer leads to. */
  constructor(onLost: (node: string) => void) {
    this.#onLost = onLost
  }

  has(from: string, node: string): boolean {
    return this.#counts.get(from)?.has(node) === true
  }

  nodesOf(from: string): Iterable<string> {
    return this.#counts.get(from)?.keys() ?? []
  }

  add(from: string, node: string): void {
    const nodes = this.#counts.get(from) ?? new Map<string, number>()
    this.#counts.set(from, nodes.set(node, (nodes.get(node) ?? 0) + 1))
  }

  remove(from: string, node: string): void {
    const nodes = this.#counts.get(from)
    const count = nodes?.get(node)
    if (nodes === undefined || count === undefined) return
    if (count > 1) {
      nodes.set(node, count - 1)
      return
    }
    nodes.delete(node)
    if (nodes.size === 0) this.#counts.delete(from)
    this.#onLost(node)
  }
}
