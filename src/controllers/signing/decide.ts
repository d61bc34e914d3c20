import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {FAILED} from '../../csr/conditions.ts'
import {parseSpecRequest, parseStoredRequest, soleCertificateIn} from '../../csr/read-request.ts'
import {problemsOf} from '../../csr/request-rules.ts'
import {lifetimeFor, type SignerRules} from '../../csr/signers.ts'
import {TrustError, hasCode} from '../../errors.ts'
import {issueFromRequest, type Issuer} from '../../pki/issuer.ts'
import {LEAF_LIFETIME, validityFor} from '../../pki/lifetimes.ts'
import {verifyRequest, type CertificateRequest} from '../../pki/request.ts'
import {isUsage} from '../../pki/usages.ts'
import {issued, refused, type Issuance} from './issuance.ts'

type Csr = CertificateSigningRequest
type Status = NonNullable<Csr['status']>

/** A signer that can sign: what it signs, and what with. */
export interface Signer {
  rules: SignerRules
  /** Its CA as it is now. */
  issuer: Issuer
  /** The longest lifetime, in milliseconds, and that of requests that ask for none. */
  duration: number
}

/** The signers that a process has the CA of; requests for all others are left to others. */
export type SignersByName = ReadonlyMap<string, Signer>

/** What is to be written into the log, and then into the request's status. */
export interface Decision {
  issuance: Issuance
  apply: (status: Status | undefined) => Status
}

export interface DecideOptions {
  signer: Signer
  now: Date
  /** Whether to check the request's own signature: a foreign server is not trusted to have done so. */
  checksSignature: boolean
}

/** How long the certificate for a request will last, in milliseconds; a guess if its signer runs elsewhere. */
export function expectedLifetime(signer: Signer | undefined, {spec}: Csr, now: Date): number {
  const {duration = LEAF_LIFETIME, issuer} = signer ?? {}
  const left = (issuer?.certificate.notAfter.getTime() ?? Infinity) - now.getTime()
  return Math.min(lifetimeFor(spec.expirationSeconds, duration), left)
}

/** kube-controller-manager's reason. */
const REASON = 'SignerValidationFailure'

export function refuse(
  csr: Csr,
  request: CertificateRequest | undefined,
  why: string,
  reason = REASON,
): Decision {
  const message = `${csr.spec.signerName} does not sign this request: ${why}`
  const failed = {type: FAILED, status: 'True', reason, message} as const
  return {
    issuance: refused(csr, request, why),
    apply: (status) => ({...status, conditions: [...(status?.conditions ?? []), failed]}),
  }
}

async function issue(csr: Csr, request: CertificateRequest, options: DecideOptions) {
  const {issuer, duration} = options.signer
  const {usages = [], expirationSeconds} = csr.spec
  const lifetime = lifetimeFor(expirationSeconds, duration)
  const pem = await issueFromRequest(issuer, request, {
    usages,
    validity: validityFor(options.now, lifetime, issuer.certificate.notAfter),
  })
  const certificate = Buffer.from(pem).toString('base64')
  return {
    issuance: issued(csr, soleCertificateIn(certificate), issuer.certificate),
    apply: (status: Status | undefined) => ({...status, certificate}),
  }
}

/** As kube-controller-manager: a usage that a later release may know is no reason to fail for good. */
function requireKnownUsages({spec}: Csr): void {
  const unknown = spec.usages?.find((usage) => !isUsage(usage))
  if (unknown === undefined) return
  throw new TrustError('CERTIFICATE_REQUEST_INVALID', `unrecognized usage: "${unknown}"`)
}

/** Signs an approved request, or says why its signer never will. Throws if trying again may help, as with an expired CA. */
export async function decide(csr: Csr, options: DecideOptions): Promise<Decision> {
  const parse = options.checksSignature ? parseSpecRequest : parseStoredRequest
  const verdict = parse(csr.spec.request)
  if ('why' in verdict) return refuse(csr, undefined, verdict.why)
  const {request} = verdict
  const problems = problemsOf(csr.spec, request, options.signer.rules)
  if (problems.length > 0) return refuse(csr, request, problems.join('; '))
  requireKnownUsages(csr)
  try {
    if (options.checksSignature) await verifyRequest(request)
    return await issue(csr, request, options)
  } catch (error) {
    if (!hasCode(error, 'CERTIFICATE_REQUEST_INVALID')) throw error
    return refuse(csr, request, error.message)
  }
}
