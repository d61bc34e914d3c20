import {messageOf} from '../../errors.ts'
import {parseBundle} from '../../pki/bundle.ts'
import type {Certificate} from '../../pki/certificate.ts'
import type {SubjectNames} from '../../pki/subject-names.ts'
import {formatTimestamp} from '../../bootstrap/timestamp.ts'
import {decodeSubject, type DecodedSubject} from './decode.ts'

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

/** Reads it; what somebody else's signer answered may be anything. */
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
