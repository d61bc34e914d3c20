import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {StatusError, tooManyRequests, unavailable} from '../kernel/status.ts'
import type {OperationContext} from '../kernel/resource.ts'
import {isForRequests} from './certificates.ts'
import type {AdmissionOperation, AdmissionPlugin} from '../kernel/admission.ts'
import {askedNode, type Ahead, type RequestUsage} from './request-usage.ts'

/** The limits of one requester. */
interface Allowance {
  /** Undecided requests. */
  pending: number
  /** Undecided requests for one node: each change of the node or of another one makes all of them be looked at again. */
  pendingForNode: number
  perHour: number
  /** Bytes of all its requests that are stored. */
  bytes: number
}

const MIB = 1024 * 1024
/** A kubelet asks for its two certificates a few times a year, and four times an hour for one that nobody approves. */
const FOR_A_NODE: Allowance = {pending: 100, pendingForNode: 100, perHour: 60, bytes: MIB}
/** Enough for a token that joins a thousand machines, twice. */
const DEFAULT_REQUESTS_PER_HOUR = 2500
/** A request with its certificate takes about 5 kB and is kept for one to two hours. */
const BYTES_EACH = 12 * 1024
const MOST_PENDING = 500
/** A machine asks again with the same key: only one that loses its disk each time it starts makes more than a few. */
const MOST_PENDING_FOR_NODE = 50

export interface Allowances {
  forNodes: Allowance
  forOthers: Allowance
}

export const allowances = (perHour = DEFAULT_REQUESTS_PER_HOUR): Allowances => ({
  forNodes: FOR_A_NODE,
  forOthers: {
    pending: MOST_PENDING,
    pendingForNode: MOST_PENDING_FOR_NODE,
    perHour,
    bytes: perHour * BYTES_EACH,
  },
})

const RETRY_SECONDS = 30
const LONGEST_RETRY = 60
const HOUR = 3_600_000

interface LimitOptions {
  allowances?: Allowances
  /** Waits until `usage` has everything that any server has acknowledged; throws if that takes too long. */
  catchUp: () => Promise<void>
}

/**
 * One requester can neither fill the server with certificate requests nor get any number of certificates. Callers who may
 * delete requests are not limited.
 */
export function requestLimit(
  usage: Pick<RequestUsage, 'of' | 'aheadOf'>,
  {allowances: {forNodes, forOthers} = allowances(), catchUp}: LimitOptions,
): AdmissionPlugin {
  const refuseIf = (
    operation: AdmissionOperation,
    context: OperationContext,
    find: (most: Allowance, now: Date) => Reached | undefined,
  ) => {
    if (!isForRequests(operation, 'create', '')) return
    const {username, groups} = context.user
    const allowance = groups.includes('system:nodes') ? forNodes : forOthers
    const reached = find(allowance, context.clock.now())
    if (reached === undefined || mayDelete(context)) return
    throw tooManyRequests(reached.seconds, reached.why(JSON.stringify(username)))
  }
  return {
    name: 'CertificateRequestLimit',
    admit: (operation, context) =>
      refuseIf(operation, context, (most, now) => {
        const {pending, pendingFor, made, bytes} = usage.of(context.user, now)
        // Reading what a request is for costs something: only one that could reach the limit is read.
        const isFew = pending < most.pendingForNode
        const node = isFew ? '' : askedNode(operation.object as CertificateSigningRequest)
        const forNode = pendingFor.get(node ?? '') ?? 0
        return reached({pending, forNode, made: made.length, bytes}, made, most, now)
      }),
    // Of those that were created at the same time the first ones stay: each counts what came before it. The last may exceed the bytes.
    confirm: (operation, context) => {
      const findAhead = () => usage.aheadOf(operation.name, operation.object?.metadata.uid)
      const decide = () =>
        refuseIf(operation, context, (most, now) => {
          // Not there: somebody has deleted it.
          const ahead = findAhead()
          return ahead && reached(ahead, usage.of(context.user, now).made, most, now)
        })
      // Events were lost, and memory is being read again.
      const isUncounted =
        isForRequests(operation, 'create', '') && findAhead() === undefined && !mayDelete(context)
      return isUncounted ? catchUp().catch(refuseUncounted).then(decide) : decide()
    },
  }
}

/** Any other failure, such as that of the store, tells its own reason. */
function refuseUncounted(error: unknown): never {
  if (!(error instanceof StatusError) || error.code !== 504) throw error
  throw unavailable(
    'the server is reloading its objects and cannot count certificate signing requests yet; try again',
  )
}

interface Reached {
  why: (who: string) => string
  /** When to try again. */
  seconds: number
}

/** `before`: the requests that a new one comes after. `times`: when those of the last hour were created. */
function reached(
  {pending, forNode, made, bytes}: Ahead,
  times: readonly number[],
  most: Allowance,
  now: Date,
): Reached | undefined {
  if (pending >= most.pending) {
    const why = (who: string) =>
      `${pending} certificate signing requests of ${who} are pending; wait until they are decided`
    return {why, seconds: RETRY_SECONDS}
  }
  if (forNode >= most.pendingForNode) {
    const why = (who: string) =>
      `${forNode} certificate signing requests of ${who} for the same node are pending; wait until they are decided`
    return {why, seconds: RETRY_SECONDS}
  }
  if (made >= most.perHour) {
    const oldest = Math.min(times[0] ?? 0, now.getTime())
    const seconds = Math.ceil((oldest + HOUR - now.getTime()) / 1000)
    const why = (who: string) =>
      `${who} has made ${made} certificate signing requests within an hour; try again later`
    return {why, seconds: Math.min(Math.max(seconds, 1), LONGEST_RETRY)}
  }
  if (bytes < most.bytes) return undefined
  const why = (who: string) =>
    `the certificate signing requests of ${who} take ${bytes} bytes; wait until some are cleaned away`
  return {why, seconds: LONGEST_RETRY}
}

const mayDelete = ({user, authorize, version}: OperationContext) =>
  authorize(user, {
    verb: 'delete',
    resource: {
      group: 'certificates.k8s.io',
      version,
      resource: 'certificatesigningrequests',
      subresource: '',
      namespace: '',
      name: '',
    },
  }).allowed
