import {TrustError} from '../errors.ts'
import {TAG, bitString, element, extension, oid, sequence} from './der-writer.ts'
import {OID} from './oids.ts'

/** Names of certificates.k8s.io `spec.usages` for the bits of the key usage extension. */
const KEY_USAGE_BITS = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
} as const

/** Names of certificates.k8s.io `spec.usages` for extended key usages. */
const EXTENDED_USAGE_OIDS = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
} as const

export type KeyUsage = keyof typeof KEY_USAGE_BITS
export type ExtendedKeyUsage = keyof typeof EXTENDED_USAGE_OIDS
/** A usage as Kubernetes names it in `spec.usages`. */
export type Usage = KeyUsage | ExtendedKeyUsage

const isKeyUsage = (usage: string): usage is KeyUsage => Object.hasOwn(KEY_USAGE_BITS, usage)
export const isExtendedUsage = (usage: string): usage is ExtendedKeyUsage =>
  Object.hasOwn(EXTENDED_USAGE_OIDS, usage)

export const isUsage = (usage: string): usage is Usage =>
  isKeyUsage(usage) || isExtendedUsage(usage)

/** All of them, in the order in which a server lists them. */
export const USAGES: string[] = [
  ...Object.keys(KEY_USAGE_BITS),
  ...Object.keys(EXTENDED_USAGE_OIDS),
].sort()

/** The usual name of a key usage bit; a bit has its last name, `digital signature` and not `signing`. */
export const keyUsageOf = (bit: number): KeyUsage | undefined =>
  (Object.keys(KEY_USAGE_BITS) as KeyUsage[]).findLast((name) => KEY_USAGE_BITS[name] === bit)

/** The name of an extended key usage, or its object identifier if Kubernetes has no name for it. */
export const extendedUsageOf = (id: string): string =>
  (Object.keys(EXTENDED_USAGE_OIDS) as ExtendedKeyUsage[]).find(
    (name) => EXTENDED_USAGE_OIDS[name] === id,
  ) ?? id

function keyUsageValue(usages: KeyUsage[]): Buffer {
  const bits = usages.map((usage) => KEY_USAGE_BITS[usage])
  const highest = Math.max(...bits)
  const bytes = Buffer.alloc((highest >> 3) + 1)
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7))
  return bitString(bytes, 7 - (highest & 7))
}

/** The key usages that RFC 5280 4.2.1.12 names as consistent with an extended one; others are not mentioned there. */
const CONSISTENT: Partial<Record<ExtendedKeyUsage, readonly KeyUsage[]>> = {
  'server auth': ['digital signature', 'key encipherment', 'key agreement'],
  'client auth': ['digital signature', 'key agreement'],
  'code signing': ['digital signature'],
  'email protection': [
    'digital signature',
    'content commitment',
    'key encipherment',
    'key agreement',
  ],
  's/mime': ['digital signature', 'content commitment', 'key encipherment', 'key agreement'],
  timestamping: ['digital signature', 'content commitment'],
  'ocsp signing': ['digital signature', 'content commitment'],
}

/**
 * The key usages that fit the extended ones: RSA clients often request key encipherment without need. If none fits, all are
 * kept, because a certificate without key usages would have no limits at all.
 */
function consistentUsages(bits: KeyUsage[], extended: readonly ExtendedKeyUsage[]): KeyUsage[] {
  const allowed = new Set<number>()
  for (const usage of extended) {
    const consistent = CONSISTENT[usage]
    if (consistent === undefined) return bits
    for (const one of consistent) allowed.add(KEY_USAGE_BITS[one])
  }
  const left = bits.filter((usage) => allowed.has(KEY_USAGE_BITS[usage]))
  return left.length === 0 ? bits : left
}

const LEAF_CONSTRAINTS = extension(OID.basicConstraints, element(TAG.sequence), {critical: true})

/**
 * Basic constraints, key usage and extended key usage of a certificate that is not a CA. Only `usages` decides, never the
 * extensions in a request. RFC 5280 reserves certificate signing for CAs, so that usage is refused; key usages that are not
 * consistent with the extended ones are dropped.
 */
export function leafUsageExtensions(usages: readonly string[]): Buffer {
  const unknown = usages.find((usage) => !isUsage(usage))
  if (unknown !== undefined) {
    throw new TrustError('CERTIFICATE_REQUEST_INVALID', `unrecognized usage: "${unknown}"`)
  }
  if (usages.includes('cert sign')) {
    throw new TrustError('CERTIFICATE_REQUEST_INVALID', 'the usage "cert sign" is for CAs only')
  }
  const extended = usages.filter(isExtendedUsage)
  const bits = consistentUsages(usages.filter(isKeyUsage), extended)
  const ids = new Set(extended.map((usage) => EXTENDED_USAGE_OIDS[usage]))
  return Buffer.concat([
    LEAF_CONSTRAINTS,
    bits.length > 0
      ? extension(OID.keyUsage, keyUsageValue(bits), {critical: true})
      : Buffer.alloc(0),
    ids.size > 0
      ? extension(OID.extendedKeyUsage, sequence(...[...ids].map(oid)))
      : Buffer.alloc(0),
  ])
}

/** Basic constraints and key usage of a CA, as our own CAs have them. */
export const authorityUsageExtensions = (): Buffer =>
  Buffer.concat([
    extension(OID.basicConstraints, sequence(element(TAG.boolean, Uint8Array.of(0xff))), {
      critical: true,
    }),
    extension(OID.keyUsage, keyUsageValue(['digital signature', 'cert sign', 'crl sign']), {
      critical: true,
    }),
  ])
