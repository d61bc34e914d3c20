import type {Machine} from '../../api/machine.ts'
import {startInformer} from '../../client/informer.ts'
import type {Source} from '../controller.ts'
import {machinesWhereServed, type MachineReader} from './machines-where-served.ts'
import {canonicalDns, machinesOf, nodeNamesOf} from './registered.ts'

/** All that a Machine may be found by. */
const keysOf = (machine: Machine): string[] => {
  const node = machine.status?.nodeRef?.name
  return [...(node ? [canonicalDns(node)] : []), ...nodeNamesOf(machine)]
}

/** The Machines by the nodes that they may be. */
export class MachineIndex implements Source {
  readonly #machines: ReturnType<typeof machinesWhereServed>
  readonly #affected: (node: string) => Iterable<string>
  readonly #byNode = new Map<string, Map<string, Machine>>()
  #synced: Promise<void> = Promise.resolve()

  /** `affected`: which keys a change of a node's Machine is about; asked by the node's name in lower case. */
  constructor(reader: MachineReader, affected: (node: string) => Iterable<string>) {
    this.#machines = machinesWhereServed(reader)
    this.#affected = affected
  }

  start({signal, enqueue, onError}: Parameters<Source['start']>[0]): ReturnType<Source['start']> {
    const informer = startInformer(this.#machines, {
      signal,
      onError,
      onChange: ({key, current, previous}) => {
        const before = previous ? keysOf(previous) : []
        const now = current ? keysOf(current) : []
        for (const node of before) this.#remove(node, key)
        for (const node of now) if (current) this.#add(node, key, current)
        for (const node of new Set([...before, ...now]))
          for (const one of this.#affected(node)) enqueue(one)
      },
    })
    this.#synced = informer.synced
    return informer
  }

  async of(node: string): Promise<Machine[]> {
    await this.#synced
    return machinesOf(node, this.#byNode.get(canonicalDns(node))?.values() ?? [])
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
