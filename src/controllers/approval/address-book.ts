import type {Machine} from '../../api/machine.ts'
import type {Node, NodeAddress} from '../../api/node.ts'
import {plainIp} from '../../pki/ip-address.ts'

/** DNS names are compared without case and without a trailing dot. */
export const canonicalDns = (name: string): string => name.toLowerCase().replace(/\.$/, '')

/** The normal form in which names and addresses are compared, whichever field they come from. */
export const formOf = (text: string): string => plainIp(text) ?? canonicalDns(text)

/** A node's name may look like an address. That does not make the address its own. */
export const isOwnNameOf = (node: string, form: string): boolean =>
  form === canonicalDns(node) && plainIp(form) === undefined

/** The names and addresses that a machine may have a certificate for, each in its normal form. */
export type Registered = ReadonlySet<string>

export const registeredOf = (addresses: readonly NodeAddress[] = []): Registered =>
  new Set(addresses.map(({address}) => formOf(address)))

/** Who has a name or an address. */
export interface Owner {
  kind: 'Node' | 'Machine'
  /** For a Machine, with its namespace. */
  name: string
}

const keyOf = ({kind, name}: Owner): string => `${kind} ${name}`

export const nodeOwner = (name: string): Owner => ({kind: 'Node', name})
export const machineOwner = ({metadata: {namespace = '', name = ''}}: Machine): Owner => ({
  kind: 'Machine',
  name: namespace === '' ? name : `${namespace}/${name}`,
})

/** What every Node and every Machine has: its own name, and what it has registered. */
export class AddressBook {
  readonly #owners = new Map<string, Map<string, Owner>>()
  readonly #formsOf = new Map<string, Registered>()

  addNode({metadata: {name = ''}, status}: Node): boolean {
    return this.#set(nodeOwner(name), name, status?.addresses)
  }

  addMachine(machine: Machine): boolean {
    return this.#set(machineOwner(machine), machine.metadata.name ?? '', machine.status?.addresses)
  }

  /** Returns whether the book was changed, like all methods that change it. */
  remove(owner: Owner): boolean {
    const key = keyOf(owner)
    const forms = this.#formsOf.get(key)
    if (forms === undefined) return false
    this.#formsOf.delete(key)
    for (const form of forms) {
      const owners = this.#owners.get(form)
      owners?.delete(key)
      if (owners?.size === 0) this.#owners.delete(form)
    }
    return true
  }

  /** The owners of a name or an address in its normal form. */
  ownersOf(form: string): Iterable<Owner> {
    return this.#owners.get(form)?.values() ?? []
  }

  #set(owner: Owner, name: string, addresses: readonly NodeAddress[] | undefined): boolean {
    const forms = registeredOf([...(addresses ?? []), {type: 'Hostname', address: name}])
    const before = this.#formsOf.get(keyOf(owner))
    if (before?.size === forms.size && [...forms].every((form) => before.has(form))) return false
    this.remove(owner)
    this.#formsOf.set(keyOf(owner), forms)
    for (const form of forms) {
      const owners = this.#owners.get(form) ?? new Map<string, Owner>()
      this.#owners.set(form, owners.set(keyOf(owner), owner))
    }
    return true
  }
}
