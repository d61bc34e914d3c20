import {randomBytes} from 'node:crypto'
import {isIP} from 'node:net'
import {TrustError} from '../errors.ts'
import {ipFromBytes, ipToBytes} from './ip-address.ts'

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
