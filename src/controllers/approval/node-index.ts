import type {Node} from '../../api/node.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {startInformer, type Informer} from '../../client/informer.ts'
import type {Source} from '../kernel/controller.ts'
import {nodeOwner, type AddressBook} from './address-book.ts'
import type {Affected} from './machine-index.ts'

/** The Nodes as they were last seen; what they have stands in the book. */
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
    this.#informer = startInformer(this.#nodes, {
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

  /** Waits for the first list, so that nobody's names count as free because they were not seen yet. */
  async find(name: string): Promise<Node | undefined> {
    await this.#informer?.synced
    return this.#informer?.get(name)
  }
}
