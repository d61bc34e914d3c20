import type {CertificateSigningRequest} from '../api/certificates.ts'
import {pinOf, type Pin} from '../pki/pins.ts'
import type {CertificateRequest} from '../pki/request.ts'
import type {SubjectNames} from '../pki/subject-names.ts'
import {nodeOfUser} from './node-names.ts'
import {isUnambiguous, parseSpecRequest} from './read-request.ts'

/** What signers and approvers have rules for. */
export interface RequestContent {
  commonName: string
  organizations: readonly string[]
  names: Readonly<SubjectNames>
  usages: readonly string[]
}

/** What a request asks for, without the objects that reading it makes: held as long as the request exists. */
export interface RequestedCertificate extends RequestContent {
  signer: string
  /** Of the key that the certificate is to be for. */
  pin: Pin
  /** The node that the common name is of. */
  node: string | undefined
}

export const contentOf = (
  {subject, names}: Pick<CertificateRequest, 'subject' | 'names'>,
  usages: readonly string[] = [],
): RequestContent => ({
  commonName: subject.commonName,
  organizations: subject.organizations,
  names,
  usages,
})

/**
 * The API server has checked the signature when the request was made. Undefined if the request cannot be read, or not by
 * everyone in the same way.
 */
export function requestedCertificate({
  spec,
}: Pick<CertificateSigningRequest, 'spec'>): RequestedCertificate | undefined {
  const verdict = parseSpecRequest(spec.request)
  if ('why' in verdict || !isUnambiguous(spec.request)) return undefined
  const content = contentOf(verdict.request, spec.usages)
  return {
    ...content,
    signer: spec.signerName,
    pin: pinOf(verdict.request),
    node: nodeOfUser(content.commonName),
  }
}
