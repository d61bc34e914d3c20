import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {Backoff} from '../client/backoff.ts'
import {Cancellation} from '../client/cancellation.ts'
import {isUndecided} from '../csr/conditions.ts'
import {givenHead, type SealedHead} from '../csr/log-head.ts'
import {TrustError, hasCode, type ErrorCode} from '../errors.ts'
import {sleep} from '../runtime.ts'
import {
  isRefused,
  issuedPem,
  nameOf,
  requestDeleted,
  stateUnknown,
  withoutCertificate,
  type OutcomeHints,
} from './outcome.ts'

type Csr = CertificateSigningRequest
type Client = Pick<ApiClient, 'csrs'>

export interface WaitOptions {
  /** Milliseconds; without it there is no limit. */
  timeout?: number | undefined
  /** Called once if nobody has decided by then. */
  onPending?: ((csr: Csr) => void) | undefined
  /** Milliseconds until that call: by default longer than an approver that is running needs. */
  pendingAfter?: number | undefined
  /** Called with why the request cannot be seen, and again only if the reason changes. */
  onTrouble?: ((trouble: TrustError) => void) | undefined
  hints?: OutcomeHints | undefined
  /** Stops the waiting. */
  signal?: AbortSignal | undefined
}

const PENDING_AFTER = 2000
/** Node.js treats a longer timer as one of no length. */
const LONGEST_TIMER = 2 ** 31 - 1
/** Short, because only a new request finds a server that vanished silently, or a token that is no longer valid. */
const WATCH_SECONDS = 30

/** Errors that waiting may cure. */
const PASSING: readonly ErrorCode[] = [
  'EXPIRED',
  'SERVER_ERROR',
  'SERVER_UNREACHABLE',
  'TIMED_OUT',
  'TOO_MANY_REQUESTS',
]

/** What was issued. */
export interface IssuedRequest {
  /** The certificate. */
  pem: string
  /** The newest line of the signer's issuance log, if the signer has given it. */
  head: SealedHead | undefined
}

/**
 * Waits until a request is signed, and returns the certificate. Denied, failed, deleted and not decided in time are errors with
 * codes of their own.
 */
export async function waitForCertificate(
  client: Client,
  submitted: Csr,
  options: WaitOptions,
): Promise<IssuedRequest> {
  const {timeout, onPending, pendingAfter = PENDING_AFTER, onTrouble, hints = {}} = options
  let csr = submitted
  let trouble: TrustError | undefined
  const report = (found: TrustError | undefined) => {
    if (found && found.code !== trouble?.code) onTrouble?.(found)
    trouble = found
  }
  const deadline = new Cancellation(options.signal)
  if (timeout !== undefined) {
    deadline.expireAfter(Math.min(timeout, LONGEST_TIMER), () =>
      trouble ? stateUnknown(csr, trouble, hints) : withoutCertificate(csr, hints),
    )
  }
  const notice = setTimeout(() => {
    if (isUndecided(csr)) onPending?.(csr)
  }, pendingAfter)
  try {
    for await (csr of statesOf(client, submitted, deadline.signal, report)) {
      const pem = issuedPem(csr)
      if (pem !== undefined) return {pem, head: givenHead(csr)}
      if (isRefused(csr)) throw withoutCertificate(csr, hints)
    }
    throw new TrustError('INTERNAL', 'the states of a certificate request ended')
  } finally {
    clearTimeout(notice)
    deadline.release()
  }
}

/**
 * The states of a request, from the given one on. Watches from there; when a watch ends or breaks, lists to find what it missed, and
 * watches from that list on.
 */
async function* statesOf(
  client: Client,
  submitted: Csr,
  signal: AbortSignal,
  report: (trouble: TrustError | undefined) => void,
): AsyncGenerator<Csr, never, undefined> {
  const {uid} = submitted.metadata
  const select = {fieldSelector: `metadata.name=${nameOf(submitted)}`, signal}
  const backoff = new Backoff({base: 100, max: 2000})
  let {resourceVersion} = submitted.metadata
  const isSame = (csr: Csr | undefined): csr is Csr => csr?.metadata.uid === uid
  yield submitted
  for (;;) {
    try {
      const watch = {...select, resourceVersion, timeoutSeconds: WATCH_SECONDS}
      for await (const {type, object} of client.csrs.watch(watch)) {
        backoff.reset()
        if (type === 'BOOKMARK') continue
        if (type === 'DELETED' || !isSame(object)) throw requestDeleted(submitted)
        yield object
      }
    } catch (error) {
      requirePassing(error, signal, 'FORBIDDEN')
    }
    // Also after a watch that ended at once, as some proxies end them: never ask in a tight loop.
    await sleep(backoff.next(), signal)
    try {
      const found = await look(client, submitted, signal)
      if (!isSame(found.csr)) throw requestDeleted(submitted)
      resourceVersion = found.resourceVersion
      report(undefined)
      yield found.csr
    } catch (error) {
      report(requirePassing(error, signal))
    }
  }
}

/** A list, because it has a version to watch from. A caller who may only get the request gets it. */
async function look({csrs}: Client, {metadata: {name = ''}}: Csr, signal: AbortSignal) {
  try {
    const {items, metadata} = await csrs.list({fieldSelector: `metadata.name=${name}`, signal})
    return {csr: items[0], resourceVersion: metadata.resourceVersion}
  } catch (error) {
    if (!hasCode(error, 'FORBIDDEN')) throw error
    const csr = await csrs.find(name, {signal})
    return {csr, resourceVersion: csr?.metadata.resourceVersion}
  }
}

function requirePassing(error: unknown, signal: AbortSignal, ...more: ErrorCode[]): TrustError {
  signal.throwIfAborted()
  if (hasCode(error, ...PASSING, ...more)) return error
  throw error
}
