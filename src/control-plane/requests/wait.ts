import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {Backoff} from '../../client/backoff.ts'
import {wasCut, wasNeverSent} from '../../client/connection-errors.ts'
import {DENIED, FAILED, findCondition, isIssued, isUndecided} from '../../csr/conditions.ts'
import {TrustError, hasCode} from '../../errors.ts'
import {sleep} from '../../runtime.ts'
import {withoutCertificate} from './explain.ts'
import {getRequest} from './show.ts'

type Csr = CertificateSigningRequest

export interface WaitOptions {
  /** Milliseconds; 0 is for ever. */
  timeout: number
  /** Called once where somebody has to approve it. */
  onPending?: ((csr: Csr) => void) | undefined
  signal?: AbortSignal | undefined
}

const WATCH_SECONDS = 300

const isOver = (csr: Csr): boolean =>
  isIssued(csr) || [DENIED, FAILED].some((type) => findCondition(csr, type) !== undefined)

/**
 * Whether asking again may help: the server restarts, or has too much to do. Whoever may look at a request need not be allowed to watch
 * it: then it is looked at now and then.
 */
const isPassing = (error: unknown): boolean =>
  wasCut(error) ||
  wasNeverSent(error) ||
  hasCode(error, 'EXPIRED', 'FORBIDDEN', 'SERVER_UNREACHABLE', 'TIMED_OUT', 'TOO_MANY_REQUESTS')

/** Waits for the certificate of a request. A denial, a failure and nobody deciding in time are errors of their own. */
export async function waitForCertificate(
  client: Pick<ApiClient, 'csrs'>,
  name: string,
  {timeout, onPending, signal}: WaitOptions,
): Promise<Csr> {
  const limit = timeout === 0 ? undefined : AbortSignal.timeout(timeout)
  const signals = [signal, limit].filter((one) => one !== undefined)
  const either = AbortSignal.any(signals)
  let last: Csr | undefined
  let wasTold = false
  const isDone = (csr: Csr): boolean => {
    last = csr
    if (!wasTold && isUndecided(csr)) {
      wasTold = true
      onPending?.(csr)
    }
    return isOver(csr)
  }
  try {
    const csr = await follow(client, name, isDone, either)
    if (isIssued(csr)) return csr
    throw withoutCertificate(csr)
  } catch (error) {
    if (
      !limit?.aborted ||
      signal?.aborted ||
      hasCode(error, 'CERTIFICATE_DENIED', 'CERTIFICATE_FAILED')
    ) {
      throw error
    }
    throw last ? withoutCertificate(last) : error
  }
}

async function follow(
  client: Pick<ApiClient, 'csrs'>,
  name: string,
  isDone: (csr: Csr) => boolean,
  signal: AbortSignal,
): Promise<Csr> {
  const backoff = new Backoff({base: 500, max: 5000})
  let wasSeen = false
  for (;;) {
    signal.throwIfAborted()
    try {
      const csr = await getRequest(client, name, {signal})
      if (isDone(csr)) return csr
      wasSeen = true
      const found = await watchOnce(client, csr, isDone, signal)
      if (found) return found
      backoff.reset()
    } catch (error) {
      if (signal.aborted || !wasSeen || !isPassing(error)) throw error
      await sleep(backoff.next(), signal)
    }
  }
}

async function watchOnce(
  {csrs}: Pick<ApiClient, 'csrs'>,
  {metadata: {name = '', uid, resourceVersion}}: Csr,
  isDone: (csr: Csr) => boolean,
  signal: AbortSignal,
): Promise<Csr | undefined> {
  const select = {fieldSelector: `metadata.name=${name}`, resourceVersion, signal}
  for await (const {type, object} of csrs.watch({...select, timeoutSeconds: WATCH_SECONDS})) {
    if (type === 'BOOKMARK') continue
    if (type === 'DELETED' || object.metadata.uid !== uid) throw gone(name)
    if (isDone(object)) return object
  }
  return undefined
}

function gone(name: string): TrustError {
  return new TrustError('NOT_FOUND', `the certificate request "${name}" was deleted`, {
    facts: {name},
    hints: ['run the command again: it asks anew, with the same key'],
  })
}
