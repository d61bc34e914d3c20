import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {printable, shellWord} from '../../client/printable.ts'
import {APPROVED, DENIED, findCondition} from '../../csr/conditions.ts'
import {nameOf} from '../../enrollment/outcome.ts'
import {
  ERROR_CODES,
  EXIT,
  TrustError,
  distinctHints,
  hasCode,
  messageOf,
  type ErrorCode,
  type Hint,
} from '../../errors.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import {getRequest} from './find.ts'

export type Decision = 'approve' | 'deny'

export interface DecideOptions {
  decision: Decision
  reason?: string | undefined
  message?: string | undefined
  /** Replaces reason and message if the decision is already the same. */
  force?: boolean | undefined
  dryRun?: boolean | undefined
}

export interface DecidedRequest {
  name: string
  decision: Decision
  /** False if the decision was already the same. */
  changed: boolean
}

/** What `certificate approve` and `certificate deny` print. */
export interface DecidedRequests {
  requests: DecidedRequest[]
  failed: {name: string; code: ErrorCode; message: string; hints: Hint[]}[]
  dryRun: boolean
}

/** A request to decide on; with its uid if it was shown before. */
export interface Target {
  name: string
  uid?: string | undefined
  /** The `spec.request` that a manifest expects. */
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
 * Decides on one request, as `kubectl certificate approve|deny`. If the decision is already the same, nothing changes; the opposite
 * decision is an error. On a conflict, reads the request again and retries.
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
    hints: [...error.hints, hint],
  })
}

/** A request that was deleted and created again under the same name may be for something else. */
function requireSame({metadata, spec}: Csr, {name, uid, request}: Target): void {
  const isOther = uid !== undefined && uid !== metadata.uid
  if (!isOther && (request === undefined || request === spec.request)) return
  const what = isOther ? 'was replaced by another one' : 'is not the one in the file'
  throw new TrustError('CONFLICT', `the certificate request "${printable(name)}" ${what}`, {
    facts: {name},
    hints: [`check it with "trustadm certificate show ${shellWord(name)}" before you decide`],
  })
}

/** The request with the decision; undefined if there is nothing to change. */
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
    `the certificate request "${printable(name)}" is already ${done}`,
    {
      facts: {name},
      hints: ['a decision cannot be changed: a new request is needed'],
    },
  )
}

/** Decides on several requests. If one fails, the others are still decided. */
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
      const {code, hints} = error
      result.failed.push({name: target.name, code, message: messageOf(error), hints})
      // If the server cannot be reached for one, it cannot be for the others.
      if (hasCode(error, 'SERVER_UNREACHABLE', 'UNAUTHORIZED')) break
    }
  }
  return result
}

/** The error for the requests that failed: that of the only one, or a summary. Undefined if none failed. */
export function failureOf({requests, failed}: DecidedRequests): TrustError | undefined {
  const [first, ...more] = failed
  if (!first) return undefined
  const codes = new Set(failed.map(({code}) => code))
  const exits = new Set(failed.map(({code}) => ERROR_CODES[code]))
  const code = codes.size === 1 || exits.size === 1 ? first.code : codeOfMany(failed)
  const message = failed.map((one) => one.message).join('; ')
  const rest = requests.length === 0 || more.length === 0 ? '' : '; the others were decided'
  return new TrustError(code, `${message}${rest}`, {
    facts: {failed, decided: requests},
    hints: distinctHints(failed.flatMap(({hints}) => hints)),
  })
}

/** Failures of several kinds have the general exit code for "failed". */
const codeOfMany = (failed: DecidedRequests['failed']): ErrorCode =>
  failed.find(({code}) => ERROR_CODES[code] === EXIT.failed)?.code ?? 'INVALID'
