import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {Backoff} from '../client/backoff.ts'
import {TrustError, hasCode, type ErrorCode} from '../errors.ts'
import {sleep} from '../runtime.ts'

export interface FollowOptions {
  signal: AbortSignal
  /** Told why nothing is heard of the request, and by undefined that it is heard of again. */
  onTrouble: (trouble: TrustError | undefined) => void
}

/** A server that was lost without a word, and a token that counts no more, are found out by asking anew. */
const WATCH_SECONDS = 30
/** What a connection that broke, or a watch that ended, throws: the next one goes on. */
const PASSING: readonly ErrorCode[] = [
  'EXPIRED',
  'SERVER_ERROR',
  'SERVER_UNREACHABLE',
  'TIMED_OUT',
  'TOO_MANY_REQUESTS',
]

/**
 * The later versions of a request, over as many watches as it takes: one for all of them where nothing breaks. Ends by the signal's
 * reason, by a failure that waiting does not heal, or by the request's deletion.
 */
export async function* laterStates(
  {csrs}: Pick<ApiClient, 'csrs'>,
  first: CertificateSigningRequest,
  {signal, onTrouble}: FollowOptions,
): AsyncGenerator<CertificateSigningRequest, never, undefined> {
  const name = first.metadata.name ?? ''
  const select = {fieldSelector: `metadata.name=${name}`, timeoutSeconds: WATCH_SECONDS, signal}
  const backoff = new Backoff({base: 100, max: 2000})
  for (let csr = first; ;) {
    try {
      const {resourceVersion} = csr.metadata
      for await (const {type, object} of csrs.watch({...select, resourceVersion})) {
        if (type === 'DELETED') throw vanished(name)
        backoff.reset()
        if (type !== 'BOOKMARK') yield (csr = object)
      }
    } catch (error) {
      requirePassing(error, signal)
    }
    // Also where it has ended at once, as some proxies end what lasts: nobody is asked in a tight circle.
    await sleep(backoff.next(), signal)
    try {
      csr = await read(csrs, name, signal)
      onTrouble(undefined)
      yield csr
    } catch (error) {
      onTrouble(requirePassing(error, signal))
    }
  }
}

function requirePassing(error: unknown, signal: AbortSignal): TrustError {
  signal.throwIfAborted()
  if (hasCode(error, ...PASSING)) return error
  throw error
}

async function read(
  csrs: ApiClient['csrs'],
  name: string,
  signal: AbortSignal,
): Promise<CertificateSigningRequest> {
  const csr = await csrs.find(name, {signal})
  if (csr) return csr
  throw vanished(name)
}

function vanished(name: string): TrustError {
  return new TrustError('CERTIFICATE_FAILED', `the certificate request "${name}" was deleted`, {
    facts: {request: name},
    hints: ['run the command again: it asks anew'],
  })
}
