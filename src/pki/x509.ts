import 'reflect-metadata'
import {webcrypto} from 'node:crypto'
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
  type JsonGeneralName,
  type JsonName,
} from '@peculiar/x509'
import type {Subject} from './distinguished-name.ts'
import type {KeyPair} from './keys.ts'
import type {Validity} from './lifetimes.ts'
import type {SubjectNames} from './subject-names.ts'

/**
 * Rare operations, with the library. It takes long to load, so this file is only imported to create a CA or a request, never
 * when a server starts.
 */

function algorithmsOf({privateKey}: KeyPair) {
  const {asymmetricKeyType, asymmetricKeyDetails} = privateKey
  if (asymmetricKeyType === 'rsa') {
    const algorithm = {name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256'}
    return {key: algorithm, signing: algorithm}
  }
  const [namedCurve, hash] =
    asymmetricKeyDetails?.namedCurve === 'secp384r1' ? ['P-384', 'SHA-384'] : ['P-256', 'SHA-256']
  return {key: {name: 'ECDSA', namedCurve}, signing: {name: 'ECDSA', hash}}
}

async function toWebKeys(keys: KeyPair) {
  const {key, signing} = algorithmsOf(keys)
  const {subtle} = webcrypto
  const [privateKey, publicKey] = await Promise.all([
    subtle.importKey('pkcs8', keys.privateKey.export({format: 'der', type: 'pkcs8'}), key, true, [
      'sign',
    ]),
    subtle.importKey('spki', keys.publicKey.export({format: 'der', type: 'spki'}), key, true, [
      'verify',
    ]),
  ])
  return {keys: {privateKey, publicKey}, signing}
}

const toJsonName = ({commonName, organizations = []}: Subject): JsonName => [
  ...organizations.map((organization) => ({O: [organization]})),
  ...(commonName === '' ? [] : [{CN: [commonName]}]),
]

const toGeneralNames = ({dns, ips, emails, uris}: Readonly<SubjectNames>): JsonGeneralName[] => [
  ...dns.map((value) => ({type: 'dns' as const, value})),
  ...ips.map((value) => ({type: 'ip' as const, value})),
  ...emails.map((value) => ({type: 'email' as const, value})),
  ...uris.map((value) => ({type: 'url' as const, value})),
]

/** A self-signed CA. Returns DER. */
export async function selfSign(
  subject: Subject,
  pair: KeyPair,
  validity: Validity,
  serialNumber: string,
): Promise<Buffer> {
  const {keys, signing} = await toWebKeys(pair)
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: toJsonName(subject),
    serialNumber,
    keys,
    signingAlgorithm: signing,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(
        KeyUsageFlags.digitalSignature | KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign,
        true,
      ),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return Buffer.from(certificate.rawData)
}

/** A PKCS#10 request. Returns DER. */
export async function signRequest(
  subject: Subject,
  names: Readonly<SubjectNames>,
  pair: KeyPair,
): Promise<Buffer> {
  const {keys, signing} = await toWebKeys(pair)
  const general = toGeneralNames(names)
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: toJsonName(subject),
    keys,
    signingAlgorithm: signing,
    extensions: general.length > 0 ? [new SubjectAlternativeNameExtension(general)] : [],
  })
  return Buffer.from(request.rawData)
}
