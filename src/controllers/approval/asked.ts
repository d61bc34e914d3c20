import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {nodeOfUser} from '../../csr/node-names.ts'
import {parseSpecRequest} from '../../csr/read-request.ts'
import {isUnambiguous} from '../../csr/unambiguous.ts'
import {pinOf, type Pin} from '../../pki/pins.ts'
import type {SubjectNames} from '../../pki/subject-names.ts'

/** What a request asks for, without the objects that reading it makes: kept for as long as the request is there. */
export interface Asked {
  commonName: string
  organizations: readonly string[]
  names: Readonly<SubjectNames>
  usages: readonly string[]
  signer: string
  /** Of the key that the certificate is to be for. */
  pin: Pin
  /** The node that the common name is of. */
  node: string | undefined
}

/**
 * The API server has checked the signature when the request was made. Undefined where the request cannot be read, or not by
 * everyone in the same way.
 */
export function askedBy({spec}: Pick<CertificateSigningRequest, 'spec'>): Asked | undefined {
  const verdict = parseSpecRequest(spec.request)
  if ('why' in verdict || !isUnambiguous(spec.request)) return undefined
  const {subject, names} = verdict.request
  return {
    commonName: subject.commonName,
    organizations: subject.organizations,
    names,
    usages: spec.usages ?? [],
    signer: spec.signerName,
    pin: pinOf(verdict.request),
    node: nodeOfUser(subject.commonName),
  }
}
