import {isIP} from 'node:net'
import {TrustError} from '../../errors.ts'
import {ipFromBytes, ipToBytes} from '../../pki/ip-address.ts'

interface Subnet {
  bytes: Buffer
  prefix: number
}

function parse(text: string): Subnet | undefined {
  // Of two ranges, one a family, the first is the one of the service `kubernetes`.
  const [first = ''] = text.split(',')
  const [address = '', prefixText = ''] = first.split('/')
  if (isIP(address) === 0 || !/^\d{1,3}$/.test(prefixText)) return undefined
  const bytes = ipToBytes(address)
  const prefix = Number(prefixText)
  return prefix <= bytes.length * 8 - 2 ? {bytes, prefix} : undefined
}

export function requireSubnet(text: string, name: string): string {
  if (parse(text)) return text
  throw new TrustError('CONFIG_INVALID', `${name} is "${text}", which is no range of addresses`, {
    hints: ['write it as in "10.96.0.0/12"'],
  })
}

/** The first address of the range behind the network's own: that of the service `default/kubernetes`. */
export function firstAddress(text: string): string {
  const subnet = parse(text)
  if (!subnet) throw new TrustError('CONFIG_INVALID', `"${text}" is no range of addresses`)
  const network = Buffer.from(
    subnet.bytes.map((byte, index) => {
      const bits = Math.min(8, Math.max(0, subnet.prefix - index * 8))
      return byte & (0xff << (8 - bits)) & 0xff
    }),
  )
  network[network.length - 1] = (network.at(-1) ?? 0) | 1
  return ipFromBytes(network) ?? ''
}
