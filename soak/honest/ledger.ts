import type {ApiClient} from '../../src/client/api-client.ts'

/** What was acknowledged: the newest data of each ConfigMap, those that were deleted, and nodes that joined. */
export class Ledger {
  readonly #data = new Map<string, string>()
  readonly #deleted = new Set<string>()
  readonly #nodes = new Set<string>()
  readonly namespace: string

  constructor(namespace: string) {
    this.namespace = namespace
  }

  wrote(name: string, data: string): void {
    this.#data.set(name, data)
  }

  /** From when a write is sent until it is answered, either state may be there. */
  forget(name: string): void {
    this.#data.delete(name)
  }

  deleted(name: string): void {
    this.#data.delete(name)
    this.#deleted.add(name)
  }

  joined(node: string): void {
    this.#nodes.add(node)
  }

  get writes(): number {
    return this.#data.size + this.#deleted.size + this.#nodes.size
  }

  /** What the server has lost of it. */
  async missing(admin: ApiClient): Promise<string[]> {
    const {items} = await admin.configMaps.list({namespace: this.namespace, pageSize: 500})
    const found = new Map(items.map(({metadata, data}) => [metadata.name ?? '', data?.text]))
    const {items: nodes} = await admin.nodes.list({pageSize: 500})
    const names = new Set(nodes.map(({metadata}) => metadata.name))
    return [
      ...[...this.#data]
        .filter(([name, data]) => found.get(name) !== data)
        .map(([name, data]) => `${name} is not "${data}" but "${found.get(name) ?? 'gone'}"`),
      ...[...this.#deleted].filter((name) => found.has(name)).map((name) => `${name} is back`),
      ...[...this.#nodes].filter((name) => !names.has(name)).map((name) => `Node ${name} is gone`),
    ]
  }
}
