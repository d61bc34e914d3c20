import type {Machine} from '../../api/machine.ts'
import type {NodeAddress} from '../../api/node.ts'
import {printable} from '../../client/printable.ts'
import {canonicalDns} from '../../controllers/approval/address-book.ts'
import {isNodeName} from '../../csr/node-names.ts'
import {plainIp} from '../../pki/ip-address.ts'

/** A machine that is to be in the inventory. */
export interface WantedMachine {
  namespace: string
  name: string
  /** The names under which it may join. */
  dns: readonly string[]
  /** IP addresses. */
  addresses: readonly string[]
  providerID?: string | undefined
}

/** A machine, and where it was asked for: `line 3`, or empty for a command line. */
export interface InventoryRow {
  machine: WantedMachine
  where: string
}

export const placed = (where: string, problem: string): string =>
  where === '' ? problem : `${where}: ${problem}`

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const PROVIDER_ID = /^[\x21-\x7e]{1,1024}$/
const MOST_NAMES = 16
const MOST_ADDRESSES = 64
const LONGEST_QUOTED = 100

const quoted = (text: string): string => `"${printable(text).slice(0, LONGEST_QUOTED)}"`

export const keyOf = ({namespace, name}: Pick<WantedMachine, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`

/** What is wrong with a machine by itself. */
export function problemsOf(machine: WantedMachine): string[] {
  const {namespace, name, dns, addresses, providerID} = machine
  const notDns = dns.filter((one) => !isNodeName(canonicalDns(one)))
  const notIps = addresses.filter((one) => plainIp(one) === undefined)
  return [
    ...(isNodeName(name) ? [] : [`${quoted(name)} is not a valid name for a Machine`]),
    ...(LABEL.test(namespace) ? [] : [`${quoted(namespace)} is not a valid namespace`]),
    ...(dns.length === 0 ? ['it has no DNS name, and could not join'] : []),
    ...notDns.map((one) => `${quoted(one)} is not a DNS name that a node can have`),
    ...notIps.map((one) => `${quoted(one)} is not an IP address`),
    ...(dns.length > MOST_NAMES ? [`it has more than ${MOST_NAMES} DNS names`] : []),
    ...(addresses.length > MOST_ADDRESSES ? [`it has more than ${MOST_ADDRESSES} addresses`] : []),
    ...(providerID === undefined || PROVIDER_ID.test(providerID)
      ? []
      : ['its provider id is empty, too long, or has blanks']),
  ]
}

/** What only one machine may have: each with the words for it. */
function claimsOf({dns, addresses, providerID}: Omit<WantedMachine, 'namespace' | 'name'>) {
  return [
    ...dns.map((one) => `the DNS name "${canonicalDns(one)}"`),
    ...addresses.map((one) => `the address ${plainIp(one) ?? one}`),
    ...(providerID === undefined ? [] : [`the provider id "${providerID}"`]),
  ]
}

/** The names, addresses and provider ids that are taken, and by whom. */
export class TakenNames {
  readonly #owners = new Map<string, string>()

  /** Returns which of them others have. */
  add(key: string, machine: Omit<WantedMachine, 'namespace' | 'name'>): string[] {
    return claimsOf(machine).flatMap((claim) => {
      const owner = this.#owners.get(claim)
      if (owner === undefined) this.#owners.set(claim, key)
      return owner === undefined || owner === key ? [] : [`${claim} is also that of ${owner}`]
    })
  }
}

export const addressesOf = ({dns, addresses}: WantedMachine): NodeAddress[] => [
  ...dns.map((address) => ({type: 'InternalDNS', address: canonicalDns(address)})),
  ...addresses.map((address) => ({type: 'InternalIP', address: plainIp(address) ?? address})),
]

const typed = (machine: Machine, ...types: string[]): string[] =>
  (machine.status?.addresses ?? [])
    .filter(({type}) => types.includes(type))
    .map(({address}) => address)

/** An object of the cluster in the same form. */
export const machineIn = (machine: Machine): WantedMachine => ({
  namespace: machine.metadata.namespace ?? '',
  name: machine.metadata.name ?? '',
  dns: typed(machine, 'InternalDNS'),
  addresses: typed(machine, 'InternalIP', 'ExternalIP'),
  providerID: machine.spec?.providerID,
})

const sorted = (machine: WantedMachine): string => JSON.stringify(claimsOf(machine).sort())

/** Whether the cluster already has the machine as it is wanted. */
export const isAsWanted = (machine: WantedMachine, present: WantedMachine): boolean =>
  sorted(machine) === sorted(present)
