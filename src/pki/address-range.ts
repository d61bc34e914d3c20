import {randomBytes} from 'node:crypto'
import {BlockList, isIP, isIPv4} from 'node:net'
import {TrustError} from '../errors.ts'
import {ipFromBytes, ipToBytes} from './ip-address.ts'

/** A block of addresses such as `10.0.0.0/8`, with its first and its last one. */
export interface Cidr {
  text: string
  includes(address: string): boolean
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** Undefined if the text is not an address block. */
export function parseCidr(text: string): Cidr | undefined {
  const [network = '', prefix = '', ...rest] = text.split('/')
  const longest = isIPv4(network) ? 32 : 128
  if (isIP(network) === 0 || network.includes('%') || rest.length > 0) return undefined
  if (!/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > longest) return undefined
  const block = new BlockList()
  block.addSubnet(network, Number(prefix), familyOf(network))
  return {
    text,
    includes: (address) => isIP(address) !== 0 && block.check(address, familyOf(address)),
  }
}

/** A range of addresses such as `10.96.0.0/12`. */
export interface AddressRange {
  text: string
  family: 'IPv4' | 'IPv6'
  /** The first address after the network's own. */
  first: string
  /** Neither the network's own address nor the broadcast address. */
  contains(address: string): boolean
  /** Any address of the range but the first. */
  random(): string
}

const toNumber = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

/** Throws CONFIG_INVALID if the text is not a range of at least two addresses; `name` is the setting. */
export function requireAddressRange(text: string, name = 'the range'): AddressRange {
  const range = parseAddressRange(text)
  if (range !== undefined) return range
  throw new TrustError('CONFIG_INVALID', `${name} is "${text}", which is not an address range`, {
    hints: ['use a range such as "10.96.0.0/12"'],
  })
}

/** Undefined if the text is not a range of at least two addresses. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [address = '', prefixText = ''] = text.split('/')
  if (isIP(address) === 0 || !/^\d{1,3}$/.test(prefixText)) return undefined
  const bytes = ipToBytes(address)
  const width = bytes.length * 8
  const free = width - Number(prefixText)
  if (free < 2 || free > width) return undefined

  const size = 1n << BigInt(free)
  const network = (toNumber(bytes) / size) * size
  const toText = (offset: bigint) =>
    ipFromBytes(
      Buffer.from((network + offset).toString(16).padStart(bytes.length * 2, '0'), 'hex'),
    ) ?? ''
  return {
    text,
    family: bytes.length === 4 ? 'IPv4' : 'IPv6',
    first: toText(1n),
    contains(other) {
      if (isIP(other) === 0) return false
      const otherBytes = ipToBytes(other)
      const offset = toNumber(otherBytes) - network
      return otherBytes.length === bytes.length && offset > 0n && offset < size - 1n
    },
    // The random number is far larger than the range, so that the bias of the remainder is negligible.
    random: () => toText(2n + (toNumber(randomBytes(32)) % (size - 3n))),
  }
}

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

type AddressKind = (typeof KINDS)[number][0]

const parse = () => KINDS.map(([kind, ...texts]) => ({kind, blocks: texts.map(block)}))
/** Parsed at first use: Node.js takes milliseconds to recognise its first IPv6 address, and a server starts without one. */
let parsed: ReturnType<typeof parse> | undefined

/** Why an address cannot identify a machine; undefined if it can. */
export const specialKindOf = (address: string): AddressKind | undefined =>
  (parsed ??= parse()).find(({blocks}) => blocks.some(({includes}) => includes(address)))?.kind
