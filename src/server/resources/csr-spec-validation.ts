import type * as api from '../../api/certificates.ts'
import type {Received} from '../../api/meta.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {duplicate, invalidValue, notSupported, required, tooLong} from '../kernel/field-error.ts'
import type {Check} from '../validation/values.ts'
import {dnsLabel, dnsSubdomain} from '../validation/names.ts'
import {verifiedRequestOf} from '../../csr/read-request.ts'
import {LEGACY_UNKNOWN, SHORTEST_SECONDS} from '../../csr/signers.ts'
import {USAGES, isUsage} from '../../pki/usages.ts'

/** As received: nothing in it has been checked. */
export type CertificateSigningRequest = Received<api.CertificateSigningRequest>

const MOST_DOMAIN = 253
/** A domain, a slash, and the longest namespace and name. */
const MOST_SIGNER_NAME = MOST_DOMAIN + 1 + 63 + 1 + 253

function validateUsages(usages: string[], lenient: boolean): FieldError[] {
  if (usages.length === 0) return [required('spec.usages')]
  if (lenient) return []
  const seen = new Set<string>()
  return usages.flatMap((usage, index) => {
    const field = `spec.usages[${index}]`
    const errors = isUsage(usage) ? [] : [notSupported(field, usage, USAGES)]
    if (seen.has(usage)) errors.push(duplicate(field, usage))
    seen.add(usage)
    return errors
  })
}

/** Only the first part that is wrong is named. */
function validateParts(field: string, value: string, check: Check): FieldError[] {
  for (const part of value.split('.')) {
    const problems = check(part)
    if (problems.length > 0) {
      const why = `validating label ${JSON.stringify(part)}: ${problems.join(', ')}`
      return [invalidValue(field, value, why)]
    }
  }
  return []
}

/** `domain/path`, the domain with a dot in it. As Kubernetes' ValidateSignerName. */
function validateSignerName(name: string, field: string): FieldError[] {
  if (name === '') return [required(field)]
  const [domain = '', path = '', ...rest] = name.split('/')
  if (!name.includes('/') || rest.length > 0) {
    const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    return [invalidValue(field, name, why)]
  }
  const errors = domain.length > MOST_DOMAIN ? [tooLong(field, MOST_DOMAIN)] : []
  errors.push(...validateParts(field, domain, dnsLabel))
  if (!domain.includes('.')) {
    const why = 'should be a domain with at least two segments separated by dots'
    errors.push(invalidValue(field, domain, why))
  }
  errors.push(...validateParts(field, path, dnsSubdomain))
  if (name.length > MOST_SIGNER_NAME) errors.push(tooLong(field, MOST_SIGNER_NAME))
  return errors
}

/** What is wrong with a spec, in the order of a real server's causes; v1beta1 is lenient. */
export function validateSpec(csr: CertificateSigningRequest, lenient: boolean): FieldError[] {
  const {request, signerName = '', expirationSeconds: seconds, usages = []} = csr.spec ?? {}
  const verdict = verifiedRequestOf(csr)
  const signerErrors =
    signerName === LEGACY_UNKNOWN
      ? [
          invalidValue(
            'spec.signerName',
            signerName,
            'the legacy signerName is not allowed via this API version',
          ),
        ]
      : validateSignerName(signerName, 'spec.signerName')
  return [
    ...('why' in verdict ? [invalidValue('spec.request', request, verdict.why)] : []),
    ...validateUsages(usages, lenient),
    ...(lenient && signerName === LEGACY_UNKNOWN ? [] : signerErrors),
    ...(seconds !== undefined && seconds < SHORTEST_SECONDS
      ? [
          invalidValue(
            'spec.expirationSeconds',
            seconds,
            'may not specify a duration less than 600 seconds (10 minutes)',
          ),
        ]
      : []),
  ]
}
