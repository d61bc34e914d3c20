import {requireAddressRange, type AddressRange} from '../../pki/address-range.ts'

/** The range of the services' addresses. With two, one per IP family, the first is that of the service `kubernetes`. */
export function serviceRange(text: string, name = 'the service subnet'): AddressRange {
  const [first = ''] = text.split(',')
  return requireAddressRange(first.trim(), name)
}

export function requireSubnet(text: string, name: string): string {
  serviceRange(text, name)
  return text
}
