import {BlockList, isIP, isIPv4} from 'node:net'

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
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > longest) return undefined
  const block = new BlockList()
  block.addSubnet(network, Number(prefix), familyOf(network))
  return {
    text,
    includes: (address) => isIP(address) !== 0 && block.check(address, familyOf(address)),
  }
}
