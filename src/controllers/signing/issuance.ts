import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {APPROVED, findCondition} from '../../csr/conditions.ts'
import {API_SERVER_CLIENT} from '../../csr/signers.ts'
import {credentialOf} from '../../csr/user-extra.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {formatName, formatSubject} from '../../pki/distinguished-name.ts'
import {pinOf} from '../../pki/pins.ts'
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
  /** The credential that the user asked with, as the API server names it; absent for bootstrap tokens. */
  credential?: string
  /** Reason and message of the approval. */
  approval?: string
  /** Empty if the request cannot be read. */
  subject: string
  /** The user that the certificate is for. */
  commonName?: string
  names: Readonly<SubjectNames>
  /** The pin of the certificate's key. */
  pin?: string
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
  /**
   * Fulfilled when the line is on the disk: nothing is published before. Returns the newest head, sealed, which is published with the
   * certificate; undefined if the log has none.
   */
  append(issuance: Issuance): Promise<string | undefined>
}

const NO_NAMES: SubjectNames = {dns: [], ips: [], emails: [], uris: []}

/** Anyone who may approve writes the message. */
const LONGEST_APPROVAL = 512

function approvalOf(csr: CertificateSigningRequest): Pick<Issuance, 'approval'> {
  const {reason, message} = findCondition(csr, APPROVED) ?? {}
  const approval = [reason, message].filter(Boolean).join(': ').slice(0, LONGEST_APPROVAL)
  return approval === '' ? {} : {approval}
}

function about(csr: CertificateSigningRequest) {
  const {metadata, spec} = csr
  const credential = credentialOf(spec)
  return {
    signer: spec.signerName,
    request: metadata.name ?? '',
    uid: metadata.uid ?? '',
    requester: spec.username ?? '',
    ...(credential === undefined ? {} : {credential}),
    ...approvalOf(csr),
  }
}

export const issued = (
  csr: CertificateSigningRequest,
  certificate: Certificate,
  issuer: Certificate,
): Issuance => ({decision: 'issued', ...about(csr), ...describe(certificate, issuer)})

/** A certificate that a command signed, without a request. */
export const issuedByCommand = (
  requester: string,
  certificate: Certificate,
  issuer: Certificate,
): Issuance => ({
  decision: 'issued',
  signer: API_SERVER_CLIENT,
  request: '',
  uid: '',
  requester,
  ...describe(certificate, issuer),
})

const describe = (certificate: Certificate, issuer: Certificate) => ({
  subject: formatSubject(certificate.subject),
  commonName: certificate.subject.commonName,
  names: certificate.names,
  pin: pinOf(certificate),
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
  subject: request ? formatSubject(request.subject) : '',
  names: request?.names ?? NO_NAMES,
  reason,
})
