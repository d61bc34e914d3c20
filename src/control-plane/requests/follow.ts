import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {startInformer} from '../../client/informer.ts'
import type {Change} from '../../client/informer-store.ts'
import {nameOf} from '../../enrollment/outcome.ts'
import {hasCode, messageOf} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {matcherOf, selectOf, type RequestFilter} from './find.ts'
import {summarizeAll, type RequestSummary, type SummaryOptions} from './list.ts'

/** One line of `certificate list --watch`. */
export interface RequestChange {
  change: 'added' | 'changed' | 'deleted'
  request: RequestSummary
}

export interface FollowOptions extends SummaryOptions {
  signal: AbortSignal
  /** Receives the existing requests first, all at once, then each change. */
  onChanges: (changes: RequestChange[]) => void | Promise<void>
  warn: (line: string) => void
}

type Csr = CertificateSigningRequest

interface SeenChange {
  change: RequestChange['change']
  csr: Csr
}

/** Errors that are not temporary. */
const isFinal = (error: unknown): boolean =>
  hasCode(error, 'FORBIDDEN', 'UNAUTHORIZED', 'NOT_FOUND', 'BAD_REQUEST', 'INVALID')

/**
 * Reports changes of the requests that match the filter, until the signal. A request that no longer matches is reported once more:
 * someone who watches pending requests wants to see that one was decided.
 */
export async function followRequests(
  {csrs}: Pick<ApiClient, 'csrs'>,
  filter: RequestFilter,
  {signal, onChanges, warn, ...summary}: FollowOptions,
  clock: Clock,
): Promise<void> {
  const own = new AbortController()
  const stop = () => own.abort()
  signal.addEventListener('abort', stop, {once: true})
  let failure: unknown
  let isSynced = false
  const first: SeenChange[] = []
  // One after the other, however long printing takes.
  let told = Promise.resolve()
  const tell = (seen: SeenChange[]) => {
    told = told.then(async () => {
      const requests = await summarizeAll(
        seen.map(({csr}) => csr),
        summary,
      )
      const changes = requests.map((request, index) => ({
        change: seen[index]?.change ?? 'changed',
        request,
      }))
      await onChanges(changes)
    })
  }
  const toChange = ({previous, current}: Change<Csr>): SeenChange | undefined => {
    const matches = matcherOf(filter, clock.now())
    const shown = current ?? previous
    if (!shown || ![previous, current].some((csr) => csr && matches(csr))) return undefined
    const change = current ? (previous ? 'changed' : 'added') : 'deleted'
    return {change, csr: shown}
  }
  const informer = startInformer(csrs, {
    signal: own.signal,
    select: selectOf(filter),
    onChange: (event) => {
      const change = toChange(event)
      if (!change) return
      if (isSynced) tell([change])
      else first.push(change)
    },
    onError: (error) => {
      if (isSynced && !isFinal(error)) return warn(`${messageOf(error)}; trying again`)
      failure = error
      own.abort()
    },
  })
  try {
    await informer.synced.catch(() => undefined)
    isSynced = true
    if (first.length > 0 && failure === undefined) tell(first.sort(byAge))
    await informer.stopped
    await told
  } finally {
    signal.removeEventListener('abort', stop)
  }
  if (failure !== undefined) throw failure as Error
}

function byAge({csr: one}: SeenChange, {csr: other}: SeenChange): number {
  const [left, right] = [one, other].map(({metadata}) => metadata.creationTimestamp ?? '')
  if (left !== right) return (left ?? '') < (right ?? '') ? -1 : 1
  return nameOf(one) < nameOf(other) ? -1 : 1
}
