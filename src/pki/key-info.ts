import type {JsonWebKey} from 'node:crypto'
import {DerReader, enterOnly, readBytesOfBits, readInteger, readOid} from './der-reader.ts'
import {TAG} from './der-writer.ts'
import {OID} from './oids.ts'

/** The DER prefix before the two coordinates of a point, for each supported curve. */
const POINT_PREFIXES = [
  {crv: 'P-256', bytes: 32, prefix: '3059301306072a8648ce3d020106082a8648ce3d03010703420004'},
  {crv: 'P-384', bytes: 48, prefix: '3076301006072a8648ce3d020106052b8104002203620004'},
  {crv: 'P-521', bytes: 66, prefix: '30819b301006072a8648ce3d020106052b810400230381860004'},
].map(({prefix, ...curve}) => ({...curve, prefix: Buffer.from(prefix, 'hex')}))

const OTHER_KINDS: readonly string[] = [OID.rsaEncryption, OID.ed25519]
const CURVE_IDS: readonly string[] = [OID.p256, OID.p384, OID.p521]

/** Limits of Go's TLS and RSA: larger keys are a cheap way to keep a verifier busy. */
const SMALLEST_MODULUS = 1024
const LARGEST_MODULUS = 8192
const LARGEST_EXPONENT_BITS = 31

/** The coordinates of an ECDSA key: OpenSSL imports them in half the time that it needs for the DER. */
export function pointOf(der: Buffer): JsonWebKey | undefined {
  for (const {crv, bytes, prefix} of POINT_PREFIXES) {
    if (der.length !== prefix.length + 2 * bytes || !der.subarray(0, prefix.length).equals(prefix))
      continue
    const coordinate = (start: number) => der.subarray(start, start + bytes).toString('base64url')
    return {kty: 'EC', crv, x: coordinate(prefix.length), y: coordinate(prefix.length + bytes)}
  }
  return undefined
}

/** Why a key that is not a point on a supported curve is not even passed to OpenSSL. */
export function problemOfKind(der: Buffer): string | undefined {
  const algorithm = new DerReader(der).enter(TAG.sequence).enter(TAG.sequence)
  const kind = readOid(algorithm.read(TAG.oid))
  if (OTHER_KINDS.includes(kind)) return undefined
  if (kind !== OID.ecPublicKey) return 'it is not RSA, ECDSA or Ed25519'
  return CURVE_IDS.includes(readOid(algorithm.read(TAG.oid)))
    ? 'it is not a point with two coordinates'
    : 'its curve is not P-256, P-384 or P-521'
}

/** Why an untrusted key is refused before any computation with it; from SubjectPublicKeyInfo. */
export function problemOfStrangersKey(der: Buffer): string | undefined {
  if (pointOf(der) !== undefined) return undefined
  try {
    return problemOfKind(der) ?? problemOfSize(der)
  } catch {
    return 'it is malformed'
  }
}

function problemOfSize(der: Buffer): string | undefined {
  const outer = enterOnly(der, TAG.sequence)
  if (readOid(outer.enter(TAG.sequence).read(TAG.oid)) !== OID.rsaEncryption) return undefined
  const key = enterOnly(readBytesOfBits(outer.read(TAG.bitString)), TAG.sequence)
  const bits = bitsOf(readInteger(key.read(TAG.integer)))
  if (bits < SMALLEST_MODULUS) return `RSA needs at least ${SMALLEST_MODULUS} bits`
  if (bits > LARGEST_MODULUS) return `RSA may have at most ${LARGEST_MODULUS} bits`
  return bitsOf(readInteger(key.read(TAG.integer))) > LARGEST_EXPONENT_BITS
    ? 'its RSA exponent is too large'
    : undefined
}

function bitsOf(integer: Buffer): number {
  const bytes = integer[0] === 0 ? integer.subarray(1) : integer
  return bytes.length * 8 - (bytes.length === 0 ? 0 : Math.clz32(bytes[0] ?? 0) - 24)
}
