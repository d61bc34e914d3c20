import 'reflect-metadata'
import {webcrypto} from 'node:crypto'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509CertificateGenerator,
  type JsonName,
} from '@peculiar/x509'
import {parseCertificateDer, type Certificate} from '../../src/pki/certificate.ts'
import {DAY, NOW} from './support.ts'

const ALGORITHM = {name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256'}

export {Extension}

export interface Made {
  certificate: Certificate
  der: Buffer
  keys: webcrypto.CryptoKeyPair
}

export interface Wish {
  name?: string | JsonName
  /** Absent: it signs itself. */
  by?: Made
  isAuthority?: boolean
  /** False: it does not say whether it is a CA. */
  hasConstraints?: boolean
  pathLength?: number
  keyUsages?: KeyUsageFlags
  extendedUsages?: string[]
  extensions?: Extension[]
  notBefore?: Date
  notAfter?: Date
  hash?: string
  keys?: webcrypto.CryptoKeyPair
}

export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
export const ANY_USAGE = '2.5.29.37.0'
export const CERT_SIGN = KeyUsageFlags.keyCertSign
export const SIGNATURE_ONLY = KeyUsageFlags.digitalSignature

/** Certificates of any shape, made by the library and not by the code under test. */
export async function make({
  name = 'CN=someone',
  by,
  isAuthority = false,
  hasConstraints = true,
  pathLength,
  keyUsages,
  extendedUsages,
  extensions = [],
  notBefore = new Date(NOW.getTime() - DAY),
  notAfter = new Date(NOW.getTime() + DAY),
  hash = 'SHA-256',
  keys,
}: Wish): Promise<Made> {
  const own = keys ?? (await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']))
  const made = await X509CertificateGenerator.create({
    subject: name,
    issuer: by ? by.certificate.subject.attributes.map(({value}) => ({CN: [value]})) : name,
    publicKey: own.publicKey,
    signingKey: (by?.keys ?? own).privateKey,
    signingAlgorithm: {name: 'ECDSA', hash},
    notBefore,
    notAfter,
    extensions: [
      ...(hasConstraints ? [new BasicConstraintsExtension(isAuthority, pathLength, true)] : []),
      ...(keyUsages === undefined ? [] : [new KeyUsagesExtension(keyUsages, true)]),
      ...(extendedUsages ? [new ExtendedKeyUsageExtension(extendedUsages)] : []),
      ...extensions,
    ],
  })
  const der = Buffer.from(made.rawData)
  return {
    // Read only if it is looked at: some are made to be unreadable.
    get certificate() {
      return parseCertificateDer(der)
    },
    der,
    keys: own,
  }
}

export const makeAuthority = (name: string, wish: Wish = {}): Promise<Made> =>
  make({name: `CN=${name}`, isAuthority: true, keyUsages: CERT_SIGN, ...wish})
