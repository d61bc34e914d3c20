import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {printable} from '../client/printable.ts'
import {APPROVED, DENIED, FAILED, findCondition, isIssued} from '../csr/conditions.ts'
import {TrustError} from '../errors.ts'
import {laterStates} from './request-states.ts'
import {issuedPem} from './submit-request.ts'

export interface WaitOptions {
  /** How many milliseconds to wait. */
  timeout: number
  /** Called once, where it takes longer than an approver that is at work would need. */
  onPending?: ((csr: CertificateSigningRequest) => void) | undefined
  /** After how many milliseconds. */
  pendingAfter?: number | undefined
  /** Called with why the request cannot be seen, once until that changes. */
  onTrouble?: ((trouble: TrustError) => void) | undefined
  /** What else helps where nobody approves it. */
  pendingHints?: readonly string[] | undefined
}

const PENDING_AFTER = 2000
/** Node.js takes a longer timer for none at all. */
const LONGEST_TIMER = 2 ** 31 - 1

/**
 * Waits by a watch until the request is decided and signed, and answers the certificate as PEM. A denial, a failure and a request
 * that nobody has decided on are told apart.
 */
export async function awaitCertificate(
  client: Pick<ApiClient, 'csrs'>,
  submitted: CertificateSigningRequest,
  {timeout, onPending, onTrouble, pendingAfter = PENDING_AFTER, pendingHints = []}: WaitOptions,
): Promise<string> {
  const over = new AbortController()
  const end = setTimeout(() => over.abort(), Math.min(timeout, LONGEST_TIMER))
  let csr = submitted
  const notice = setTimeout(() => onPending?.(csr), Math.min(pendingAfter, timeout))
  let trouble: TrustError | undefined
  const listen = (found: TrustError | undefined) => {
    if (found && found.message !== trouble?.message) onTrouble?.(found)
    trouble = found
  }
  try {
    const found = outcomeOf(csr)
    if (found !== undefined) return found
    for await (csr of laterStates(client, csr, {signal: over.signal, onTrouble: listen})) {
      const issued = outcomeOf(csr)
      if (issued !== undefined) return issued
    }
    throw new TrustError('INTERNAL', 'the states of a certificate request have come to an end')
  } catch (error) {
    throw error === over.signal.reason ? stillPending(csr, pendingHints, trouble) : error
  } finally {
    clearTimeout(end)
    clearTimeout(notice)
    over.abort()
  }
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

function stillPending(
  csr: CertificateSigningRequest,
  hints: readonly string[],
  trouble: TrustError | undefined,
): TrustError {
  const name = nameOf(csr)
  const again = 'then run this command again: it goes on where it stopped'
  if (trouble) {
    return new TrustError(
      'CERTIFICATE_PENDING',
      `what became of the certificate request "${name}" is not known: ${trouble.message}`,
      {cause: trouble, facts: {request: name}, hints: [...trouble.suggestions, again]},
    )
  }
  const isApproved = findCondition(csr, APPROVED) !== undefined
  return new TrustError(
    'CERTIFICATE_PENDING',
    isApproved
      ? `the certificate request "${name}" is approved, but nobody has signed it`
      : `the certificate request "${name}" is still pending: nobody has approved it`,
    {
      facts: {request: name},
      hints: [
        ...(isApproved
          ? ['see that the csr-signer runs on the control plane']
          : [
              `"trustadm certificate show ${name}" on the control plane says what it waits for`,
              `"trustadm certificate approve ${name}" there approves it`,
            ]),
        ...hints,
        again,
      ],
    },
  )
}
