import {isIPv4, isIPv6} from 'node:net'

function canonicalV6(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1)
}

/** The canonical form of an IP address, or undefined if the text is not one. Zones are not accepted. */
export function canonicalIp(address: string): string | undefined {
  if (isIPv4(address)) return address
  return isIPv6(address) && !address.includes('%') ? canonicalV6(address) : undefined
}

const MAPPED_V4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/** Like `canonicalIp`, with IPv4 for an IPv4-mapped address: verifiers such as Go's treat the two as equal. */
export function plainIp(address: string): string | undefined {
  const canonical = canonicalIp(address)
  const [, high, low] = MAPPED_V4.exec(canonical ?? '') ?? []
  if (high === undefined || low === undefined) return canonical
  return [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')
}

export function ipToBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = canonicalV6(address).split('::')
  const groups = (part: string | undefined) => (part ? part.split(':') : [])
  const before = groups(head)
  const after = groups(tail)
  const zeros = Array.from({length: 8 - before.length - after.length}, () => '0')
  const bytes = Buffer.alloc(16)
  for (const [index, group] of [...before, ...zeros, ...after].entries()) {
    bytes.writeUInt16BE(Number.parseInt(group, 16), index * 2)
  }
  return bytes
}

/** The address of 4 or 16 bytes; undefined for any other length. */
export function ipFromBytes(bytes: Buffer): string | undefined {
  if (bytes.length === 4) return [...bytes].join('.')
  if (bytes.length !== 16) return undefined
  const groups = Array.from({length: 8}, (_, index) => bytes.readUInt16BE(index * 2).toString(16))
  return canonicalV6(groups.join(':'))
}
