import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {printable, shellWord} from '../../client/printable.ts'
import {APPROVED, DENIED, findCondition} from '../../csr/conditions.ts'
import {nameOf} from '../../enrollment/outcome.ts'
import {ERROR_CODES, EXIT, TrustError, hasCode, messageOf, type ErrorCode} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {formatTimestamp} from '../../bootstrap/timestamp.ts'
import {getRequest} from './find.ts'

export type Decision = 'approve' | 'deny'

export interface DecideOptions {
  decision: Decision
  reason?: string | undefined
  message?: string | undefined
  /** Writes reason and message anew where the decision stands already. */
  force?: boolean | undefined
  dryRun?: boolean | undefined
}

export interface DecidedRequest {
  name: string
  decision: Decision
  /** False where it was decided so already. */
  changed: boolean
}

/** What `certificate approve` and `certificate deny` print. */
export interface DecidedRequests {
  requests: DecidedRequest[]
  failed: {name: string; code: ErrorCode; message: string; hints: string[]}[]
  dryRun: boolean
}

/** A request to decide on; of one that was shown before, that very one. */
export interface Target {
  name: string
  uid?: string | undefined
  /** What `spec.request` has to be, where a manifest says so. */
  request?: string | undefined
}

type Csr = CertificateSigningRequest

const MOST_ATTEMPTS = 10

const DECISIONS = {
  approve: {
    type: APPROVED,
    opposite: DENIED,
    reason: 'TrustadmApprove',
    message: 'This request was approved by "trustadm certificate approve".',
  },
  deny: {
    type: DENIED,
    opposite: APPROVED,
    reason: 'TrustadmDeny',
    message: 'This request was denied by "trustadm certificate deny".',
  },
} as const

/**
 * Decides on one request, as `kubectl certificate approve|deny`: one that is decided so already is left as it is, one that is decided
 * the other way is an error, and a change in between is met by reading again.
 */
export async function decide(
  client: Pick<ApiClient, 'csrs'>,
  target: Target,
  options: DecideOptions,
  clock: Clock,
): Promise<DecidedRequest> {
  for (let attempt = 1; ; attempt += 1) {
    const csr = await getRequest(client, target.name)
    requireSame(csr, target)
    const decided = withDecision(csr, options, clock)
    if (!decided) return {name: target.name, decision: options.decision, changed: false}
    try {
      await client.csrs.updateSubresource('approval', decided, {dryRun: options.dryRun})
      return {name: target.name, decision: options.decision, changed: true}
    } catch (error) {
      if (hasCode(error, 'FORBIDDEN')) throw notAllowed(error, csr.spec.signerName)
      if (!hasCode(error, 'CONFLICT') || attempt >= MOST_ATTEMPTS) throw error
    }
  }
}

/** Deciding takes two permissions: on the request, and on its signer. */
function notAllowed(error: TrustError, signer: string): TrustError {
  const [domain = '', path = ''] = signer.split('/')
  // Kubernetes has a role for each of its own signers.
  const hint =
    domain === 'kubernetes.io'
      ? `for this signer, bind the ClusterRole system:certificates.k8s.io:${path}-approver to the user`
      : `for this signer, the user needs a role with the verb "approve" on "signers.certificates.k8s.io" named "${signer}" or "${domain}/*"`
  return new TrustError('FORBIDDEN', error.message, {
    cause: error,
    facts: error.facts,
    hints: [...error.suggestions, hint],
  })
}

/** A request that was deleted and made again under the same name may ask for something else. */
function requireSame({metadata, spec}: Csr, {name, uid, request}: Target): void {
  const isOther = uid !== undefined && uid !== metadata.uid
  if (!isOther && (request === undefined || request === spec.request)) return
  const what = isOther ? 'was replaced by another one meanwhile' : 'is another one than in the file'
  throw new TrustError('CONFLICT', `the certificate request "${printable(name)}" ${what}`, {
    facts: {name},
    hints: [`look at it with "trustadm certificate show ${shellWord(name)}" before you decide`],
  })
}

/** The request with the decision; undefined where it stands already and is not to be written anew. */
function withDecision(csr: Csr, options: DecideOptions, clock: Clock): Csr | undefined {
  const {type, opposite, ...defaults} = DECISIONS[options.decision]
  if (findCondition(csr, opposite)) throw alreadyDecided(csr, opposite)
  const existing = findCondition(csr, type)
  if (existing && !options.force) return undefined
  const {reason = existing?.reason ?? defaults.reason} = options
  const {message = existing?.message ?? defaults.message} = options
  const condition = {
    ...existing,
    type,
    status: 'True' as const,
    reason,
    message,
    lastUpdateTime: formatTimestamp(clock.now()),
  }
  const others = (csr.status?.conditions ?? []).filter((one) => one.type !== type)
  return {...csr, status: {...csr.status, conditions: [...others, condition]}}
}

function alreadyDecided(csr: Csr, type: string): TrustError {
  const name = nameOf(csr)
  const done = type === DENIED ? 'denied' : 'approved'
  return new TrustError(
    'ALREADY_DECIDED',
    `the certificate request "${printable(name)}" is ${done} already`,
    {
      facts: {name},
      hints: ['a decision cannot be taken back: the certificate has to be asked for again'],
    },
  )
}

/** Decides on several. One that fails does not keep the others from being decided. */
export async function decideAll(
  client: Pick<ApiClient, 'csrs'>,
  targets: readonly Target[],
  options: DecideOptions,
  clock: Clock,
): Promise<DecidedRequests> {
  const result: DecidedRequests = {requests: [], failed: [], dryRun: options.dryRun ?? false}
  for (const target of targets) {
    try {
      result.requests.push(await decide(client, target, options, clock))
    } catch (error) {
      if (!(error instanceof TrustError)) throw error
      const {code, suggestions: hints} = error
      result.failed.push({name: target.name, code, message: messageOf(error), hints})
      // Whoever cannot be reached for one cannot be for the others.
      if (hasCode(error, 'SERVER_UNREACHABLE', 'UNAUTHORIZED')) break
    }
  }
  return result
}

/** The error of those that failed: the one's own, or all in one sentence. Undefined where none did. */
export function failureOf({requests, failed}: DecidedRequests): TrustError | undefined {
  const [first, ...more] = failed
  if (!first) return undefined
  const codes = new Set(failed.map(({code}) => code))
  const exits = new Set(failed.map(({code}) => ERROR_CODES[code]))
  const code = codes.size === 1 || exits.size === 1 ? first.code : codeOfMany(failed)
  const message = failed.map((one) => one.message).join('; ')
  const rest = requests.length === 0 || more.length === 0 ? '' : '; the others were decided on'
  return new TrustError(code, `${message}${rest}`, {
    facts: {failed, decided: requests},
    hints: [...new Set(failed.flatMap(({hints}) => hints))],
  })
}

/** Failures of several kinds end with the plain exit code for "failed". */
const codeOfMany = (failed: DecidedRequests['failed']): ErrorCode =>
  failed.find(({code}) => ERROR_CODES[code] === EXIT.failed)?.code ?? 'INVALID'
