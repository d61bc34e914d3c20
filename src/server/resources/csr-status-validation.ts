import {messageOf} from '../../errors.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {
  duplicate,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../kernel/field-error.ts'
import {semanticallyEqual} from '../validation/values.ts'
import {soleCertificateIn} from '../../csr/read-request.ts'
import {parseCertificateDer} from '../../pki/certificate.ts'
import {pemBlocks} from '../../pki/pem-blocks.ts'
import type {CertificateSigningRequest} from './csr-spec-validation.ts'
import {APPROVED, DENIED, FAILED} from '../../csr/conditions.ts'

export type CsrCondition = NonNullable<
  NonNullable<CertificateSigningRequest['status']>['conditions']
>[number]

const DECIDED = [APPROVED, DENIED, FAILED]
const CONDITIONS = 'status.conditions'
const CERTIFICATE = 'status.certificate'

/** Rules that the stored object already breaks, or that v1beta1 never had, are not checked. */
export interface Leniency {
  bothDecisions: boolean
  repeatedTypes: boolean
  emptyTypes: boolean
  anyCertificate: boolean
}

export const STRICT: Leniency = {
  bothDecisions: false,
  repeatedTypes: false,
  emptyTypes: false,
  anyCertificate: false,
}

const conditionsOf = ({status}: CertificateSigningRequest) => status?.conditions ?? []
const ofType = (csr: CertificateSigningRequest, type: string) =>
  conditionsOf(csr).filter((condition) => condition.type === type)

/** What a stored object, or the version of the API, excuses. */
export function leniencyFor(
  csr: CertificateSigningRequest,
  old: CertificateSigningRequest,
  version: string,
): Leniency {
  const types = conditionsOf(old).map(({type = ''}) => type)
  const beta = version === 'v1beta1'
  const [certificate, stored] = [csr.status?.certificate, old.status?.certificate]
  return {
    bothDecisions: types.includes(APPROVED) && types.includes(DENIED),
    repeatedTypes: beta || new Set(types).size < types.length,
    emptyTypes: beta || types.includes(''),
    anyCertificate:
      beta || certificate === stored || certificateProblem(stored ?? '') !== undefined,
  }
}

function validateStatusOf({type = '', status = ''}: CsrCondition, field: string): FieldError[] {
  if (status === '') return [required(field)]
  const allowed = DECIDED.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
  return allowed.includes(status) ? [] : [notSupported(field, status, allowed)]
}

function validateConditions(csr: CertificateSigningRequest, lenient: Leniency): FieldError[] {
  const seen = new Set<string>()
  return conditionsOf(csr).flatMap((condition, index) => {
    const {type = ''} = condition
    const field = `${CONDITIONS}[${index}]`
    const opposite = type === APPROVED ? DENIED : type === DENIED ? APPROVED : undefined
    const contradicts = opposite !== undefined && seen.has(opposite)
    const repeated = seen.has(type)
    seen.add(type)
    return [
      ...(type === '' && !lenient.emptyTypes ? [required(`${field}.type`)] : []),
      ...validateStatusOf(condition, `${field}.status`),
      ...(contradicts && !lenient.bothDecisions
        ? [invalidValue(CONDITIONS, type, 'Approved and Denied conditions are mutually exclusive')]
        : []),
      ...(repeated && !lenient.repeatedTypes ? [duplicate(`${field}.type`, type)] : []),
    ]
  })
}

function isSoleCertificate(encoded: string): boolean {
  try {
    soleCertificateIn(encoded)
    return true
  } catch {
    return false
  }
}

/** Why a base64 PEM text is not a list of certificates; an empty one is valid. */
function certificateProblem(encoded: string): string | undefined {
  if (encoded === '' || isSoleCertificate(encoded)) return undefined
  const blocks = pemBlocks(Buffer.from(encoded, 'base64').toString('latin1'))
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block'
  for (const {type, hasHeaders, bytes} of blocks) {
    if (type !== 'CERTIFICATE') {
      return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`
    }
    if (hasHeaders) return 'no PEM block headers are permitted'
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates'
    try {
      parseCertificateDer(bytes)
    } catch (error) {
      return messageOf(error)
    }
  }
  return undefined
}

/** The rules for conditions and the certificate, whatever was stored before. */
export function validateStatus(csr: CertificateSigningRequest, lenient: Leniency): FieldError[] {
  const why = lenient.anyCertificate ? undefined : certificateProblem(csr.status?.certificate ?? '')
  return [
    ...validateConditions(csr, lenient),
    ...(why === undefined ? [] : [invalidValue(CERTIFICATE, '<certificate data>', why)]),
  ]
}

/** What an endpoint may change besides metadata. */
export interface Permission {
  decide: boolean
  issue: boolean
}

function validateDecisions(
  csr: CertificateSigningRequest,
  old: CertificateSigningRequest,
  {decide}: Permission,
): FieldError[] {
  const refuse = (verb: string, type: string) =>
    forbiddenField(CONDITIONS, `updates may not ${verb} a condition of type "${type}"`)
  const removed = DECIDED.filter((type) => ofType(csr, type).length < ofType(old, type).length)
  if (decide) return removed.map((type) => refuse('remove', type))
  const changed = [APPROVED, DENIED].flatMap((type) => {
    const [now, before] = [ofType(csr, type), ofType(old, type)]
    if (now.length > before.length) return [refuse('add', type)]
    if (now.length < before.length || semanticallyEqual(now, before)) return []
    return [refuse('modify', type)]
  })
  return [...removed.map((type) => refuse('remove', type)), ...changed]
}

/** What an update may not do. */
export function validateTransition(
  csr: CertificateSigningRequest,
  old: CertificateSigningRequest,
  permission: Permission,
): FieldError[] {
  const errors = validateDecisions(csr, old, permission)
  const [certificate, stored] = [csr.status?.certificate ?? '', old.status?.certificate ?? '']
  if (certificate === stored) return errors
  if (!permission.issue) {
    errors.push(forbiddenField(CERTIFICATE, 'updates may not set certificate content'))
  } else if (stored !== '') {
    errors.push(forbiddenField(CERTIFICATE, 'updates may not modify existing certificate content'))
  }
  return errors
}
