import type {FieldError} from '../kernel/field-error.ts'
import {deepCopy} from '../kernel/json-value.ts'
import {type OperationContext, type Strategy, type ExtraVersion} from '../kernel/resource.ts'
import {pathSegmentName} from '../validation/names.ts'
import {withCaller} from '../../csr/user-extra.ts'
import {APPROVED, DENIED, FAILED} from '../../csr/conditions.ts'
import {verifyAhead, requestOf} from '../../csr/read-request.ts'
import {
  isKubeletSigner,
  KUBELET_CLIENT,
  KUBELET_SERVING,
  LEGACY_UNKNOWN,
  SIGNER_RULES,
} from '../../csr/signers.ts'
import type {ApiObject} from '../../api/meta.ts'
import {isPermitted} from '../../csr/request-rules.ts'
import {contentOf} from '../../csr/requested-certificate.ts'
import {AGE, column, defineResource, humanDuration, NAME, restore} from './define.ts'
import {validateSpec, type CertificateSigningRequest} from './csr-spec-validation.ts'
import {
  type Permission,
  STRICT,
  leniencyFor,
  validateStatus,
  validateTransition,
  type CsrCondition,
} from './csr-status-validation.ts'
import {formatTimestamp} from '../../runtime.ts'

type Csr = CertificateSigningRequest

/** The server sets the requester and the key that it used, and for a node's certificate the caller's address; the body cannot. */
function prepareForCreate(csr: Csr, {user, seen}: OperationContext): void {
  const {username: _username, uid: _uid, groups: _groups, extra: _extra, ...rest} = csr.spec ?? {}
  const {address, key} = seen ?? {}
  const isNodes = isKubeletSigner(rest.signerName)
  const extra = withCaller(user.extra, {address: isNodes ? address : undefined, key})
  csr.spec = {
    ...rest,
    ...(user.username === '' ? {} : {username: user.username}),
    ...(user.uid ? {uid: user.uid} : {}),
    ...(user.groups.length === 0 ? {} : {groups: user.groups}),
    ...(Object.keys(extra).length > 0 ? {extra} : {}),
  }
  csr.status = {}
}

function validateCreate(csr: Csr, {version}: OperationContext): FieldError[] {
  return [...validateSpec(csr, version === 'v1beta1'), ...validateStatus(csr, STRICT)]
}

/** Adds missing times to conditions. An unchanged state keeps its transition time. */
function fillTimes(csr: Csr, old: Csr, {clock}: OperationContext): void {
  const now = formatTimestamp(clock.now())
  const identity = ({type, status}: CsrCondition) => JSON.stringify([type, status])
  // Of several equal ones the first counts, so it is inserted last.
  const before = new Map(
    (old.status?.conditions ?? []).toReversed().map((one) => [identity(one), one]),
  )
  for (const condition of csr.status?.conditions ?? []) {
    condition.lastUpdateTime ??= now
    condition.lastTransitionTime ??= before.get(identity(condition))?.lastTransitionTime ?? now
  }
}

const indicesOf = (conditions: CsrCondition[], type: string) =>
  conditions.flatMap((condition, index) => (condition.type === type ? [index] : []))

/** Decisions are made through `/approval`: here the stored ones are kept, unless one was added or removed. */
function keepDecisions(csr: Csr, old: Csr): void {
  const [now, before] = [csr.status?.conditions ?? [], old.status?.conditions ?? []]
  for (const type of [APPROVED, DENIED]) {
    const [places, stored] = [indicesOf(now, type), indicesOf(before, type)]
    if (places.length !== stored.length) continue
    places.forEach((place, index) => {
      const kept = before[stored[index] ?? -1]
      if (kept !== undefined) now[place] = deepCopy(kept)
    })
  }
}

/** Exported for the tests: what each endpoint allows to change. */
export const CSR_PERMISSIONS: Record<'main' | 'status' | 'approval', Permission> = {
  main: {decide: false, issue: false},
  status: {decide: false, issue: true},
  approval: {decide: true, issue: false},
}

export const validateCsrUpdate = (
  csr: Csr,
  old: Csr,
  endpoint: keyof typeof CSR_PERMISSIONS,
  version = 'v1',
): FieldError[] => [
  ...validateStatus(csr, leniencyFor(csr, old, version)),
  ...validateTransition(csr, old, CSR_PERMISSIONS[endpoint]),
]

const statusStrategy: Strategy<Csr> = {
  prepareForUpdate: (csr, old, context) => {
    restore(csr, old, 'spec')
    csr.status ??= {}
    fillTimes(csr, old, context)
    keepDecisions(csr, old)
  },
  validateUpdate: (csr, old, {version}) => validateCsrUpdate(csr, old, 'status', version),
}

const approvalStrategy: Strategy<Csr> = {
  prepareForUpdate: (csr, old, context) => {
    restore(csr, old, 'spec')
    const {certificate} = old.status ?? {}
    csr.status = {
      ...(csr.status?.conditions ? {conditions: csr.status.conditions} : {}),
      ...(certificate === undefined ? {} : {certificate}),
    }
    fillTimes(csr, old, context)
  },
  validateUpdate: (csr, old, {version}) => validateCsrUpdate(csr, old, 'approval', version),
}

function conditionText({status}: Csr): string {
  const types = new Set(status?.conditions?.map(({type}) => type))
  const decision = [DENIED, APPROVED].find((type) => types.has(type)) ?? 'Pending'
  const failed = types.has(FAILED) ? `,${FAILED}` : ''
  return `${decision}${failed}${status?.certificate ? ',Issued' : ''}`
}

/** The signer that a request appears to be for. */
function signerFor(csr: CertificateSigningRequest, usages: string[]): string {
  const verdict = requestOf(csr)
  if ('why' in verdict) return LEGACY_UNKNOWN
  const content = contentOf(verdict.request, usages)
  const guesses = [KUBELET_CLIENT, KUBELET_SERVING] as const
  return guesses.find((signer) => isPermitted(content, SIGNER_RULES[signer])) ?? LEGACY_UNKNOWN
}

/** v1beta1 fills in what v1 requires. */
function defaults(object: ApiObject): void {
  const csr: CertificateSigningRequest = object
  const spec = (csr.spec ??= {})
  const usages = (spec.usages ??= ['digital signature', 'key encipherment'])
  spec.signerName ??= signerFor(csr, usages)
  for (const condition of csr.status?.conditions ?? []) {
    if (condition.status === undefined || condition.status === '') condition.status = 'True'
  }
}

const csrV1beta1: ExtraVersion = {
  version: 'v1beta1',
  type: 'certificates/v1beta1.CertificateSigningRequest',
  deprecation:
    'certificates.k8s.io/v1beta1 CertificateSigningRequest is deprecated in v1.19+, unavailable in v1.22+; use certificates.k8s.io/v1 CertificateSigningRequest',
  defaults,
}

export const certificateSigningRequests = defineResource<Csr>({
  extraVersions: [csrV1beta1],
  plural: 'certificatesigningrequests',
  type: 'certificates/v1.CertificateSigningRequest',
  shortNames: ['csr'],
  namespaced: false,
  writtenByNodes: true,
  // A request and its certificate take about 10 kB with RSA-4096 and many names. Anyone with a token can create them.
  mostBytes: 128 * 1024,
  specIsNeverOwned: true,
  validateName: pathSegmentName,
  strategy: {
    examine: verifyAhead,
    prepareForCreate,
    validateCreate,
    prepareForUpdate: (csr, old) => {
      restore(csr, old, 'spec')
      restore(csr, old, 'status')
    },
    validateUpdate: (csr, old, {version}) => validateCsrUpdate(csr, old, 'main', version),
  },
  subresources: {
    approval: {verbs: ['get', 'patch', 'update'], strategy: approvalStrategy},
    status: {verbs: ['get', 'patch', 'update'], strategy: statusStrategy},
  },
  fields: {'spec.signerName': ({spec}) => spec?.signerName ?? ''},
  columns: [
    NAME,
    AGE,
    column('SignerName', 'The signer that is asked.', ({spec}) => spec?.signerName ?? '<none>'),
    column('Requestor', 'The user who asks.', ({spec}) => spec?.username ?? ''),
    column('RequestedDuration', 'How long the certificate is to last.', ({spec}) =>
      spec?.expirationSeconds === undefined
        ? '<none>'
        : humanDuration(spec.expirationSeconds * 1000),
    ),
    column('Condition', 'What became of it.', conditionText),
  ],
})
