import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {isIssued} from '../csr/conditions.ts'
import {TrustError, hasCode} from '../errors.ts'
import {parseCertificate} from '../pki/certificate.ts'
import {parseRequest} from '../pki/request.ts'

type Named = CertificateSigningRequest & {metadata: {name: string}}

export interface Submitted {
  csr: CertificateSigningRequest
  /** Whether an earlier run had asked for it already. */
  isTakenUp: boolean
}

/** Posts the request, or takes up the one that an earlier run has posted with the same key, as the kubelet does. */
export async function submitRequest(
  {csrs}: Pick<ApiClient, 'csrs'>,
  request: Named,
): Promise<Submitted> {
  try {
    return {csr: await csrs.create(request), isTakenUp: false}
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error
    const csr = await csrs.get(request.metadata.name)
    requireSame(csr, request)
    return {csr, isTakenUp: true}
  }
}

/** Whether what was issued is of no use any more; then another key has to ask anew. */
export function isOutOfDate(csr: CertificateSigningRequest, now: Date): boolean {
  if (!isIssued(csr)) return false
  try {
    return parseCertificate(issuedPem(csr)).notAfter <= now
  } catch {
    // What is wrong with it is said where it is looked at.
    return false
  }
}

export const issuedPem = ({status}: CertificateSigningRequest): string =>
  Buffer.from(status?.certificate ?? '', 'base64').toString()

function requireSame(standing: CertificateSigningRequest, ours: Named): void {
  if (standing.spec.signerName === ours.spec.signerName && hasSameContent(standing, ours)) return
  throw new TrustError(
    'CONFLICT',
    `there is a certificate request "${ours.metadata.name}" already, and it is not for this machine's key`,
    {hints: [`look at it with "trustadm certificate show ${ours.metadata.name}", then delete it`]},
  )
}

function hasSameContent(
  left: CertificateSigningRequest,
  right: CertificateSigningRequest,
): boolean {
  try {
    return contentOf(left) === contentOf(right)
  } catch {
    return false
  }
}

function contentOf({spec}: CertificateSigningRequest): string {
  const {subject, publicKeyDer} = parseRequest(Buffer.from(spec.request, 'base64').toString())
  const {commonName, organizations} = subject
  const usages = [...(spec.usages ?? [])].sort()
  return JSON.stringify([commonName, organizations, publicKeyDer.toString('hex'), usages])
}
