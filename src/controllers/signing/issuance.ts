import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {formatName} from '../../pki/distinguished-name.ts'
import type {CertificateRequest} from '../../pki/request.ts'
import type {SubjectNames} from '../../pki/subject-names.ts'

/** What a signer did with one request: a line of the issuance log. */
export interface Issuance {
  decision: 'issued' | 'refused'
  signer: string
  /** The name and the uid of the CertificateSigningRequest. */
  request: string
  uid: string
  /** The user who asked. */
  requester: string
  /** Empty if the request cannot be read. */
  subject: string
  names: Readonly<SubjectNames>
  /** The CA that signed: its name, and the SHA-256 of its certificate, for CAs that share a name. */
  issuer?: string
  issuerFingerprint?: string
  /** Of the certificate, in hexadecimal. */
  serial?: string
  /** The SHA-256 of the whole certificate, in hexadecimal. */
  fingerprint?: string
  notBefore?: string
  notAfter?: string
  /** Why it was refused. */
  reason?: string
}

/** Keeps what was signed and refused. */
export interface IssuanceLog {
  /** Fulfilled when the line is on the disk: nothing is published before. */
  append(issuance: Issuance): Promise<void>
}

const NO_NAMES: SubjectNames = {dns: [], ips: [], emails: [], uris: []}

const about = ({metadata, spec}: CertificateSigningRequest) => ({
  signer: spec.signerName,
  request: metadata.name ?? '',
  uid: metadata.uid ?? '',
  requester: spec.username ?? '',
})

export const issued = (
  csr: CertificateSigningRequest,
  certificate: Certificate,
  issuer: Certificate,
): Issuance => ({
  decision: 'issued',
  ...about(csr),
  subject: formatName(certificate.subject),
  names: certificate.names,
  issuer: formatName(issuer.subject),
  issuerFingerprint: issuer.fingerprint,
  serial: certificate.serial,
  fingerprint: certificate.fingerprint,
  notBefore: certificate.notBefore.toISOString(),
  notAfter: certificate.notAfter.toISOString(),
})

export const refused = (
  csr: CertificateSigningRequest,
  request: CertificateRequest | undefined,
  reason: string,
): Issuance => ({
  decision: 'refused',
  ...about(csr),
  subject: request ? formatName(request.subject) : '',
  names: request?.names ?? NO_NAMES,
  reason,
})
