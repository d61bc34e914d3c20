import {specialKindOf} from '../../pki/address-range.ts'
import {plainIp} from '../../pki/ip-address.ts'
import {canonicalDns, formOf, isOwnNameOf, type AddressBook, type Owner} from './address-book.ts'
import type {ApiServerFacts} from './api-server.ts'

/** Who has which names: all that is needed to decide which names only a person can approve. */
export interface NameOwners {
  apiServer: ApiServerFacts
  /** Which of the API server's names and addresses are the node's, each in its normal form; undefined if it is not of the control plane. */
  asApiServer: ReadonlySet<string> | undefined
  book: Pick<AddressBook, 'ownersOf'>
  /** The node itself, and its Machines. */
  isOwn: (owner: Owner) => boolean
}

const LABEL = /^[a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9_])?$/
const LONGEST = 253
/** Names for the local machine, and names of services. */
const LOCAL = ['localhost', 'localdomain']

/** If the last label is a number, many programs read an address: "127.1". */
const NUMBER = /^(\d+|0x[0-9a-f]*)$/

const isDnsName = (name: string): boolean => {
  const labels = name.split('.')
  const last = labels.at(-1) ?? ''
  return name.length <= LONGEST && labels.every((label) => LABEL.test(label)) && !NUMBER.test(last)
}

const isServiceName = (labels: readonly string[]): boolean =>
  labels.indexOf('svc') >= 2 || (labels[0] === 'kubernetes' && labels.length <= 2)

function addressProblem(address: string, {serviceRanges}: ApiServerFacts): string | undefined {
  const kind = specialKindOf(address)
  if (kind !== undefined) return `is ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind} address`
  const range = serviceRanges.find(({includes}) => includes(address))
  return range && `is in the service range, ${range.text}`
}

function nameProblem(name: string, node: string): string | undefined {
  if (name.includes('*')) return 'is a wildcard'
  if (!isDnsName(name)) return 'is not a DNS name'
  const labels = name.split('.')
  if (LOCAL.includes(labels.at(-1) ?? '')) return 'is a local name of every machine'
  if (isServiceName(labels)) return 'is the name of a service'
  return labels.length === 1 && name !== canonicalDns(node)
    ? `is a single word, and not the node's own name`
    : undefined
}

/** Its certificate may have wildcards, each for one label. */
export const isApiServers = (form: string, {names}: Pick<ApiServerFacts, 'names'>): boolean =>
  names.has(form) || names.has(form.replace(/^[^.]*/, '*'))

/** The other owners of a name or address. What another Node registers does not take away the node's own name. */
function otherOwner(
  form: string,
  node: string,
  {book, isOwn}: Pick<NameOwners, 'book' | 'isOwn'>,
): Owner | undefined {
  const isOwnName = isOwnNameOf(node, form)
  for (const owner of book.ownersOf(form)) {
    if (!isOwn(owner) && !(isOwnName && owner.kind === 'Node')) return owner
  }
  // The name of another Node, in any domain, belongs to that Node.
  const [first = '', ...domain] = plainIp(form) === undefined ? form.split('.') : []
  if (domain.length === 0 || isOwnName || first === canonicalDns(node)) return undefined
  for (const owner of book.ownersOf(first)) {
    if (owner.kind === 'Node' && canonicalDns(owner.name) === first && !isOwn(owner)) return owner
  }
  return undefined
}

/** Why only a person can approve a name or an address; undefined if it is not reserved. */
export function reservedBecause(
  text: string,
  node: string,
  owners: NameOwners,
): string | undefined {
  const {apiServer, asApiServer} = owners
  const form = formOf(text)
  const address = plainIp(text)
  const problem =
    address === undefined ? nameProblem(form, node) : addressProblem(address, apiServer)
  if (problem !== undefined) return problem
  if (isApiServers(form, apiServer) && !asApiServer?.has(form)) {
    const isNamed = asApiServer === undefined || asApiServer.size > 0
    return isNamed
      ? "is the API server's"
      : `is the API server's, and the EndpointSlice default/kubernetes has no address that node "${node}" has registered`
  }
  const owner = otherOwner(form, node, owners)
  return owner && `is also that of ${owner.kind} "${owner.name}"`
}
