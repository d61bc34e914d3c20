import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {callerAddressOf} from '../../csr/user-extra.ts'
import type {Cidr} from '../../pki/address-range.ts'
import {plainIp} from '../../pki/ip-address.ts'
import {canonicalDns, formOf, isOwnNameOf} from './address-book.ts'
import type {ApiServerFacts} from './api-server.ts'
import type {NameOwners} from './reserved-names.ts'
import type {Voucher} from './serving-situation.ts'

/** What an operator has decided about the names of nodes that have no Machine. */
export interface ServingPolicy {
  /** Deny requests that can never be approved, instead of leaving them to a person. A kubelet asks again. */
  deny: boolean
  /** Addresses in these blocks are believed if the Node has registered them. */
  cidrs: readonly Cidr[]
  /** Names below these domains are believed if the Node has registered them. */
  domains: readonly string[]
  /** The API server's names and the service range by the settings of this process; absent if it has none. */
  settings?: ReservedBySettings | undefined
}

/** What no node gets, whatever becomes of kube-system/kubeadm-config. */
export interface ReservedBySettings {
  names: readonly string[]
  subnets: readonly string[]
}

export const STRICT_POLICY: ServingPolicy = {deny: false, cidrs: [], domains: []}

/** Who vouches for the names in a request. */
export interface Believer {
  csr: Pick<CertificateSigningRequest, 'spec'>
  node: string
  voucher: Extract<Voucher, {registered: object}>
  apiServer: Pick<ApiServerFacts, 'attests'>
  asApiServer: NameOwners['asApiServer']
  /** Absent if it is not known. */
  policy: ServingPolicy | undefined
}

/** The part of the policy that covers a name or an address. */
const allowedBy = (form: string, {cidrs, domains}: ServingPolicy): string | undefined =>
  plainIp(form) === undefined
    ? domains.find((domain) => form.endsWith(`.${canonicalDns(domain)}`))
    : cidrs.find(({includes}) => includes(form))?.text

function unbelieved(text: string, seen: string | undefined, {node, policy}: Believer): string {
  const isAddress = plainIp(text) !== undefined
  const own = isAddress
    ? seen === undefined
      ? `an address that the server saw node "${node}" at`
      : `"${seen}", where the server saw node "${node}"`
    : `the name of node "${node}"`
  const flag = isAddress ? '--serving-cidr' : '--serving-domain'
  const allowed =
    policy === undefined ? `an approver's ${flag} may allow it` : `no ${flag} allows it`
  return `"${text}" is not ${own}, no Machine vouches for it, and ${allowed}`
}

/** Whether a name or an address is believed to be the node's, and why. */
export function belief(text: string, believer: Believer): {holds: boolean; found: string} {
  const {csr, node, voucher, apiServer, asApiServer, policy} = believer
  const form = formOf(text)
  const isRegistered = voucher.registered.has(form)
  const registration = `"${text}" is ${isRegistered ? '' : 'not '}registered by ${voucher.kind} "${voucher.name}"`
  if (voucher.kind === 'Machine') return {holds: isRegistered, found: registration}

  if (isOwnNameOf(node, form)) return {holds: true, found: `"${text}" is the node's own name`}
  if (asApiServer?.has(form)) {
    const found = `"${text}" is in the EndpointSlice default/kubernetes, and node "${node}" is of the control plane and has registered it`
    return {holds: true, found}
  }
  const seen = apiServer.attests ? callerAddressOf(csr) : undefined
  if (form === seen) return {holds: true, found: `the server saw the node at "${text}"`}
  const allowing = policy && allowedBy(form, policy)
  return allowing === undefined
    ? {holds: false, found: unbelieved(text, seen, believer)}
    : {holds: isRegistered, found: `${registration}, and is in ${allowing}`}
}
