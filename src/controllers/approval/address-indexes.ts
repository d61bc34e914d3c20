import type {Machine} from '../../api/machine.ts'
import type {Node} from '../../api/node.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {Informer} from '../../client/informer.ts'
import {shareInformer} from '../../client/shared-informer.ts'
import type {Source} from '../kernel/controller.ts'
import {canonicalDns, machineOwner, nodeOwner, type AddressBook} from './address-book.ts'
import {dnsNamesOf} from './machine-window.ts'
import {machinesWhereServed, type MachineReader} from './optional-apis.ts'
import {machinesOf} from './serving-situation.ts'

/** Which keys a change concerns. */
export interface Affected {
  /** A change of a node's Machine, or of the Node. The argument is the node's name in lower case. */
  of: (node: string) => Iterable<string>
  /** A change that adds or removes a name that others may ask for. */
  all: () => Iterable<string>
}

/** The Nodes as last seen; their names and addresses are in the book. */
export class NodeIndex implements Source {
  readonly #nodes: Pick<ApiClient['nodes'], 'list' | 'watch'>
  readonly #affected: Affected
  readonly #book: Pick<AddressBook, 'addNode' | 'remove'>
  #informer: Informer<Node> | undefined

  constructor(
    nodes: Pick<ApiClient['nodes'], 'list' | 'watch'>,
    affected: Affected,
    book: Pick<AddressBook, 'addNode' | 'remove'>,
  ) {
    this.#nodes = nodes
    this.#affected = affected
    this.#book = book
  }

  start({signal, enqueue, onError}: Parameters<Source['start']>[0]): ReturnType<Source['start']> {
    this.#informer = shareInformer(this.#nodes, {
      signal,
      onError,
      onChange: ({key, current}) => {
        const isMoved = current ? this.#book.addNode(current) : this.#book.remove(nodeOwner(key))
        const keys = isMoved ? this.#affected.all() : this.#affected.of(key)
        for (const one of keys) enqueue(one)
      },
    })
    return this.#informer
  }

  /** Waits for the first list: a name must not count as free only because its owner has not been read yet. */
  async find(name: string): Promise<Node | undefined> {
    await this.#informer?.synced
    return this.#informer?.get(name)
  }
}

/** Everything by which a Machine may be found. */
const keysOf = (machine: Machine): string[] => {
  const node = machine.status?.nodeRef?.name
  return [...(node ? [canonicalDns(node)] : []), ...dnsNamesOf(machine)]
}

/** For whom only the nodes of Machines matter, not who has which address. */
const NO_BOOK: Pick<AddressBook, 'addMachine' | 'remove'> = {
  addMachine: () => false,
  remove: () => false,
}

/** The Machines by the nodes that they may be; their names and addresses are in the book. */
export class MachineIndex implements Source {
  readonly #machines: ReturnType<typeof machinesWhereServed>
  readonly #affected: Affected
  readonly #book: Pick<AddressBook, 'addMachine' | 'remove'>
  readonly #byNode = new Map<string, Map<string, Machine>>()
  #synced: Promise<void> = Promise.resolve()

  constructor(
    reader: MachineReader,
    affected: Affected,
    book: Pick<AddressBook, 'addMachine' | 'remove'> = NO_BOOK,
  ) {
    this.#machines = machinesWhereServed(reader)
    this.#affected = affected
    this.#book = book
  }

  start({signal, enqueue, onError}: Parameters<Source['start']>[0]): ReturnType<Source['start']> {
    const informer = shareInformer(this.#machines, {
      signal,
      onError,
      onChange: ({key, current, previous}) => {
        const before = previous ? keysOf(previous) : []
        const now = current ? keysOf(current) : []
        for (const node of before) this.#remove(node, key)
        for (const node of now) if (current) this.#add(node, key, current)
        for (const node of new Set([...before, ...now]))
          for (const one of this.#affected.of(node)) enqueue(one)
        if (this.#enter(current, previous)) for (const one of this.#affected.all()) enqueue(one)
      },
    })
    this.#synced = informer.synced
    return informer
  }

  async of(node: string): Promise<Machine[]> {
    await this.#synced
    return machinesOf(node, this.#byNode.get(canonicalDns(node))?.values() ?? [])
  }

  #enter(current: Machine | undefined, previous: Machine | undefined): boolean {
    if (current) return this.#book.addMachine(current)
    return previous !== undefined && this.#book.remove(machineOwner(previous))
  }

  #add(node: string, key: string, machine: Machine): void {
    const machines = this.#byNode.get(node) ?? new Map<string, Machine>()
    this.#byNode.set(node, machines.set(key, machine))
  }

  #remove(node: string, key: string): void {
    const machines = this.#byNode.get(node)
    machines?.delete(key)
    if (machines?.size === 0) this.#byNode.delete(node)
  }
}
