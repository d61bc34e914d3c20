import {randomBytes} from 'node:crypto'
import {
  TAG,
  bitString,
  element,
  extension,
  oid,
  sequence,
  set,
  text,
  unsignedInteger,
} from '../../src/pki/der-writer.ts'
import {OID} from '../../src/pki/oids.ts'

export {rsaKeyInfo} from '../server/certificates/weak-keys.ts'

/** An odd number of exactly so many bits: a modulus for all who do not try to factor it. */
export const modulusWith = (bits: number): bigint =>
  (1n << BigInt(bits - 1)) |
  BigInt(`0x${randomBytes(Math.floor(bits / 8) - 1).toString('hex')}`) |
  1n

const SHA256_RSA = sequence(oid('1.2.840.113549.1.1.11'), element(TAG.null))

const named = (name: string) =>
  sequence(set(sequence(oid(OID.commonName), text(TAG.utf8String, name))))

const CA = extension(OID.basicConstraints, sequence(element(TAG.boolean, Uint8Array.of(0xff))), {
  critical: true,
})

export interface Strange {
  subject: string
  issuer: string
  /** How long the signature is, which is no signature of anybody. */
  signatureBytes?: number
}

/** A CA certificate with any key, which costs its maker nothing: nobody needs the other half, and nobody has signed it. */
export function withKeyInfo(
  publicKeyInfo: Buffer,
  {subject, issuer, signatureBytes = 1024}: Strange,
): Buffer {
  const signature = randomBytes(signatureBytes)
  // Below any modulus, or it would be refused before anything is computed.
  signature[0] = 1
  const content = sequence(
    element(0xa0, unsignedInteger(Uint8Array.of(2))),
    unsignedInteger(Uint8Array.of(1)),
    SHA256_RSA,
    named(issuer),
    sequence(text(TAG.utcTime, '200101000000Z'), text(TAG.utcTime, '490101000000Z')),
    named(subject),
    publicKeyInfo,
    element(0xa3, sequence(CA)),
  )
  return sequence(content, SHA256_RSA, bitString(signature))
}
