import type {KeyObject} from 'node:crypto'
import {messageOf} from '../../errors.ts'
import {parseBundle} from '../../pki/bundle.ts'
import type {Certificate} from '../../pki/certificate.ts'
import type {DistinguishedName} from '../../pki/distinguished-name.ts'
import {formatName} from '../../pki/distinguished-name.ts'
import {OID} from '../../pki/oids.ts'
import {pinOf} from '../../pki/pins.ts'
import type {CertificateRequest} from '../../pki/request.ts'
import type {SubjectNames} from '../../pki/subject-names.ts'
import {formatTimestamp} from '../../runtime.ts'

/** A subject, as the server would read user and groups from it. */
export interface DecodedSubject {
  commonName: string
  organizations: string[]
  /** Attributes of other kinds: `OU=…`. */
  other: string[]
}

interface DecodedKey {
  /** `ECDSA P-256`, `RSA`, `Ed25519`. */
  algorithm: string
  bits: number
  /** Of its SubjectPublicKeyInfo. */
  pin: string
}

/** What a PKCS#10 request asks for, in plain values. */
export interface DecodedRequest {
  subject: DecodedSubject
  names: Readonly<SubjectNames>
  key: DecodedKey
  signatureAlgorithm: string
}

const CURVES: Record<string, {algorithm: string; bits: number}> = {
  prime256v1: {algorithm: 'ECDSA P-256', bits: 256},
  secp384r1: {algorithm: 'ECDSA P-384', bits: 384},
  secp521r1: {algorithm: 'ECDSA P-521', bits: 521},
}

function kindOf({asymmetricKeyType, asymmetricKeyDetails: details}: KeyObject) {
  if (asymmetricKeyType === 'rsa') return {algorithm: 'RSA', bits: details?.modulusLength ?? 0}
  const curve = CURVES[details?.namedCurve ?? '']
  return curve ?? {algorithm: 'Ed25519', bits: 256}
}

const isNamed = (oid: string): boolean => oid === OID.commonName || oid === OID.organization

const decodeSubject = ({
  commonName,
  organizations,
  attributes,
}: DistinguishedName): DecodedSubject => ({
  commonName,
  organizations,
  other: attributes
    .filter(({oid}) => !isNamed(oid))
    .map((attribute) => formatName({attributes: [attribute]})),
})

export const decodeRequest = (request: CertificateRequest): DecodedRequest => ({
  subject: decodeSubject(request.subject),
  names: request.names,
  key: {...kindOf(request.publicKey), pin: pinOf(request)},
  signatureAlgorithm: request.signatureAlgorithm,
})

/** The certificate that a request led to. */
export interface IssuedCertificate {
  serial: string
  subject: DecodedSubject
  names: Readonly<SubjectNames>
  issuer: DecodedSubject
  notBefore: string
  notAfter: string
  /** Hexadecimal SHA-256 of the whole certificate. */
  fingerprint: string
  /** How many certificates come with it. */
  chain: number
}

/** Reads it; another program's signer may have returned anything. */
export function readIssued(pem: string): {certificate: Certificate; chain: number} | {why: string} {
  try {
    const [certificate, ...others] = parseBundle(pem)
    return certificate ? {certificate, chain: others.length} : {why: 'it is empty'}
  } catch (error) {
    return {why: messageOf(error)}
  }
}

export const describeIssued = (certificate: Certificate, chain: number): IssuedCertificate => ({
  serial: certificate.serial,
  subject: decodeSubject(certificate.subject),
  names: certificate.names,
  issuer: decodeSubject(certificate.issuer),
  notBefore: formatTimestamp(certificate.notBefore),
  notAfter: formatTimestamp(certificate.notAfter),
  fingerprint: certificate.fingerprint,
  chain,
})
