import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {Backoff} from '../client/backoff.ts'
import {printable} from '../client/printable.ts'
import {APPROVED, DENIED, FAILED, findCondition, isIssued} from '../csr/conditions.ts'
import {TrustError, hasCode, type ErrorCode} from '../errors.ts'
import {sleep} from '../runtime.ts'
import {issuedPem} from './submit-request.ts'

export interface WaitOptions {
  /** How many milliseconds to wait. */
  timeout: number
  /** Called once, where it takes longer than an approver that is at work would need. */
  onPending?: ((csr: CertificateSigningRequest) => void) | undefined
  /** After how many milliseconds. */
  pendingAfter?: number | undefined
  /** What else helps where nobody approves it. */
  pendingHints?: readonly string[] | undefined
}

const PENDING_AFTER = 2000
/** What a connection that broke, or a watch that ended, throws: the next one goes on. */
const PASSING: readonly ErrorCode[] = [
  'EXPIRED',
  'SERVER_ERROR',
  'SERVER_UNREACHABLE',
  'TIMED_OUT',
  'TOO_MANY_REQUESTS',
]

/**
 * Waits by a watch until the request is decided and signed, and answers the certificate as PEM. A denial, a failure and a request
 * that nobody has decided on are told apart.
 */
export async function awaitCertificate(
  {csrs}: Pick<ApiClient, 'csrs'>,
  submitted: CertificateSigningRequest,
  {timeout, onPending, pendingAfter = PENDING_AFTER, pendingHints = []}: WaitOptions,
): Promise<string> {
  const name = submitted.metadata.name ?? ''
  const over = new AbortController()
  const end = setTimeout(() => over.abort(), timeout)
  let csr = submitted
  const notice = setTimeout(() => onPending?.(csr), Math.min(pendingAfter, timeout))
  const backoff = new Backoff({base: 100, max: 2000})
  try {
    for (;;) {
      const found = outcomeOf(csr)
      if (found !== undefined) return found
      try {
        csr = await nextState(csrs, csr, over.signal)
        backoff.reset()
      } catch (error) {
        if (over.signal.aborted) throw stillPending(csr, pendingHints)
        if (!hasCode(error, ...PASSING)) throw error
        await sleep(backoff.next(), over.signal).catch(() => undefined)
        csr = await read(csrs, name, over.signal, csr).catch((failure: unknown) => {
          throw over.signal.aborted ? stillPending(csr, pendingHints) : failure
        })
      }
    }
  } finally {
    clearTimeout(end)
    clearTimeout(notice)
    over.abort()
  }
}

/** The next version of the request. A watch that ends without one is followed by another. */
async function nextState(
  csrs: ApiClient['csrs'],
  {metadata: {name = '', resourceVersion}}: CertificateSigningRequest,
  signal: AbortSignal,
): Promise<CertificateSigningRequest> {
  const fieldSelector = `metadata.name=${name}`
  for (;;) {
    for await (const {type, object} of csrs.watch({fieldSelector, resourceVersion, signal})) {
      if (type === 'DELETED') throw vanished(name)
      if (type !== 'BOOKMARK') return object
    }
    signal.throwIfAborted()
  }
}

async function read(
  csrs: ApiClient['csrs'],
  name: string,
  signal: AbortSignal,
  known: CertificateSigningRequest,
): Promise<CertificateSigningRequest> {
  try {
    const csr = await csrs.find(name, {signal})
    if (csr) return csr
  } catch (error) {
    if (signal.aborted || !hasCode(error, ...PASSING)) throw error
    return known
  }
  throw vanished(name)
}

/** The certificate where there is one, and undefined while there may still be one. */
export function outcomeOf(csr: CertificateSigningRequest): string | undefined {
  if (isIssued(csr)) return issuedPem(csr)
  const denied = findCondition(csr, DENIED)
  if (denied) {
    throw new TrustError('CERTIFICATE_DENIED', `the certificate request was denied${why(denied)}`, {
      facts: factsOf(csr, denied),
      hints: [
        'ask who runs the cluster why; then run the command again, which asks anew',
        `"trustadm certificate show ${nameOf(csr)}" on the control plane tells who decided`,
      ],
    })
  }
  const failed = findCondition(csr, FAILED)
  if (failed) {
    throw new TrustError('CERTIFICATE_FAILED', `the signer refused the request${why(failed)}`, {
      facts: factsOf(csr, failed),
      hints: [`look at it with "trustadm certificate show ${nameOf(csr)}" on the control plane`],
    })
  }
  return undefined
}

type Condition = NonNullable<ReturnType<typeof findCondition>>

const nameOf = ({metadata}: CertificateSigningRequest): string => printable(metadata.name ?? '')

function why({reason = '', message = ''}: Condition): string {
  const said = [reason, message].filter((text) => text !== '').map(printable)
  return said.length === 0 ? '' : ` (${said.join(': ')})`
}

function factsOf(csr: CertificateSigningRequest, {reason, message}: Condition) {
  return {request: nameOf(csr), reason, message}
}

function vanished(name: string): TrustError {
  return new TrustError('CERTIFICATE_FAILED', `the certificate request "${name}" was deleted`, {
    facts: {request: name},
    hints: ['run the command again: it asks anew'],
  })
}

function stillPending(csr: CertificateSigningRequest, hints: readonly string[]): TrustError {
  const name = nameOf(csr)
  const isApproved = findCondition(csr, APPROVED) !== undefined
  return new TrustError(
    'CERTIFICATE_PENDING',
    isApproved
      ? `the certificate request "${name}" is approved, but nobody has signed it`
      : `the certificate request "${name}" is still pending: nobody has approved it`,
    {
      facts: {request: name},
      hints: [
        isApproved
          ? 'see that the csr-signer runs on the control plane'
          : `on the control plane, run "trustadm certificate approve ${name}"; "trustadm certificate show ${name}" says what it waits for`,
        ...hints,
        'then run this command again: it goes on where it stopped',
      ],
    },
  )
}
