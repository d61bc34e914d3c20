/** Tag numbers of the ASN.1 types that X.509 is made of. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
} as const

/** How many octets a length takes besides the first. */
function octetsOf(length: number): number {
  if (length < 0x80) return 0
  let octets = 1
  for (let rest = length; rest > 0xff; rest = Math.floor(rest / 256)) octets += 1
  return octets
}

/** One DER element: the tag, the length, and the parts one after the other. */
export function element(tag: number, ...parts: Uint8Array[]): Buffer {
  let length = 0
  for (const part of parts) length += part.length
  const octets = octetsOf(length)
  const whole = Buffer.allocUnsafe(2 + octets + length)
  whole[0] = tag
  whole[1] = octets === 0 ? length : 0x80 | octets
  if (octets > 0) whole.writeUIntBE(length, 2, octets)
  let at = 2 + octets
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export const sequence = (...parts: Uint8Array[]): Buffer => element(TAG.sequence, ...parts)
export const set = (...parts: Uint8Array[]): Buffer => element(TAG.set, ...parts)
export const octetString = (bytes: Uint8Array): Buffer => element(TAG.octetString, bytes)
export const text = (tag: number, value: string): Buffer => element(tag, Buffer.from(value, 'utf8'))

export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(TAG.bitString, Uint8Array.of(unusedBits), bytes)
}

/** A non-negative integer from its big-endian bytes, in the fewest octets. */
export function unsignedInteger(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0)
  const digits = first === -1 ? Uint8Array.of(0) : bytes.subarray(first)
  const negative = ((digits[0] ?? 0) & 0x80) !== 0
  return element(TAG.integer, negative ? Uint8Array.of(0) : Uint8Array.of(), digits)
}

const TRUE = element(TAG.boolean, Uint8Array.of(0xff))

function base128(value: number): number[] {
  const bytes = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.unshift((rest % 128) | 0x80)
  }
  return bytes
}

const encodedOids = new Map<string, Buffer>()

/** Cached: only a few constants are written. */
export function oid(dotted: string): Buffer {
  const known = encodedOids.get(dotted)
  if (known) return known
  const encoded = encodeOid(dotted)
  encodedOids.set(dotted, encoded)
  return encoded
}

function encodeOid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return element(TAG.oid, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)))
}

/** UTCTime up to 2049, GeneralizedTime after it, as RFC 5280 4.1.2.5 requires. Fractions of a second are dropped. */
export function time(date: Date): Buffer {
  const year = date.getUTCFullYear()
  if (year < 0 || year > 9999) throw new RangeError('the year does not fit into a certificate')
  const iso = date.toISOString()
  const day = iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10)
  const digits = day + iso.slice(11, 13) + iso.slice(14, 16) + iso.slice(17, 19)
  return year >= 1950 && year < 2050
    ? text(TAG.utcTime, `${digits.slice(2)}Z`)
    : text(TAG.generalizedTime, `${digits}Z`)
}

/** One X.509 extension. */
export function extension(id: string, value: Uint8Array, {critical = false} = {}): Buffer {
  return sequence(oid(id), critical ? TRUE : Uint8Array.of(), octetString(value))
}
