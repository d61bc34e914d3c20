import type {Machine} from '../../api/machine.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {startInformer} from '../../client/informer.ts'
import type {WatchOptions} from '../../client/resource-client.ts'
import {hasCode} from '../../errors.ts'
import {sleep} from '../../runtime.ts'
import type {Source} from '../controller.ts'
import {canonicalDns, machinesOf, nodeNamesOf} from './registered.ts'

type Machines = Pick<ApiClient['machines'], 'list' | 'watch'>

/** How often a cluster without the Machine API is asked whether it has it by now. */
const LOOK_AGAIN = 300_000

/** The Machines, of which there are none where the API does not exist. */
function whereServed(machines: Machines): Machines {
  return {
    async list(options) {
      try {
        return await machines.list(options)
      } catch (error) {
        if (!hasCode(error, 'NOT_FOUND')) throw error
        return {kind: 'MachineList', apiVersion: 'v1', metadata: {resourceVersion: ''}, items: []}
      }
    },
    async *watch(options: WatchOptions = {}) {
      try {
        yield* machines.watch(options)
      } catch (error) {
        if (!hasCode(error, 'NOT_FOUND')) throw error
        await sleep(LOOK_AGAIN, options.signal)
      }
    },
  }
}

/** All that a Machine may be found by. */
const keysOf = (machine: Machine): string[] => {
  const node = machine.status?.nodeRef?.name
  return [...(node ? [canonicalDns(node)] : []), ...nodeNamesOf(machine)]
}

/** The Machines by the nodes that they may be. */
export class MachineIndex implements Source {
  readonly #machines: Machines
  readonly #affected: (node: string) => Iterable<string>
  readonly #byNode = new Map<string, Map<string, Machine>>()
  #synced: Promise<void> = Promise.resolve()

  /** `affected`: which keys a change of a node's Machine is about; asked by the node's name in lower case. */
  constructor(machines: Machines, affected: (node: string) => Iterable<string>) {
    this.#machines = whereServed(machines)
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
