import {isIPv6} from 'node:net'

const MAPPED_V4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The key of one caller in a rate limit: an IPv4 address, or an IPv6 /64, because one host may use all of it. */
export function addressKey(address: string): string {
  const [, mapped] = MAPPED_V4.exec(address) ?? []
  if (mapped !== undefined) return mapped
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return address
  const [head = '', tail] = bare.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array.from({length: zeros}, () => '0'), ...after]
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}
