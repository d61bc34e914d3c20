import {parseCertificate, publicKeyOf} from './certificate.ts'
import type {KeyAlgorithm} from './keys.ts'

const BY_CURVE: Readonly<Record<string, KeyAlgorithm>> = {
  prime256v1: 'ECDSA-P256',
  secp384r1: 'ECDSA-P384',
}
const BY_LENGTH: Readonly<Record<number, KeyAlgorithm>> = {
  2048: 'RSA-2048',
  3072: 'RSA-3072',
  4096: 'RSA-4096',
}

/** The kind of a certificate's key; undefined for one that we do not make. */
export function algorithmOf(certificatePem: string): KeyAlgorithm | undefined {
  const {asymmetricKeyDetails: details = {}} = publicKeyOf(parseCertificate(certificatePem))
  return BY_CURVE[details.namedCurve ?? ''] ?? BY_LENGTH[details.modulusLength ?? 0]
}
