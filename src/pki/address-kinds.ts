import {parseCidr} from './cidr.ts'

const block = (text: string) => {
  const cidr = parseCidr(text)
  if (cidr === undefined) throw new RangeError(text)
  return cidr
}

/** Addresses that do not identify a machine in its network, by RFC 6890. */
const KINDS = [
  ['loopback', '127.0.0.0/8', '::1/128'],
  ['unspecified', '0.0.0.0/8', '::/128'],
  ['link-local', '169.254.0.0/16', 'fe80::/10'],
  ['multicast', '224.0.0.0/4', 'ff00::/8'],
  // Future use and broadcast; IPv4-compatible addresses, which mapped ones have replaced.
  ['reserved', '240.0.0.0/4', '::/96'],
] as const

export type AddressKind = (typeof KINDS)[number][0]

const parse = () => KINDS.map(([kind, ...texts]) => ({kind, blocks: texts.map(block)}))
/** Parsed at first use: Node.js takes milliseconds to recognise its first IPv6 address, and a server starts without one. */
let parsed: ReturnType<typeof parse> | undefined

/** Why an address cannot identify a machine; undefined if it can. */
export const specialKindOf = (address: string): AddressKind | undefined =>
  (parsed ??= parse()).find(({blocks}) => blocks.some(({includes}) => includes(address)))?.kind
