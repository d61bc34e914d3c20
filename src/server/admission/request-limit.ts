import {tooManyRequests} from '../kernel/status.ts'
import type {OperationContext} from '../kernel/resource.ts'
import {isForRequests} from './certificates.ts'
import type {AdmissionOperation, AdmissionPlugin} from '../kernel/admission.ts'
import type {RequestUsage, Usage} from './request-usage.ts'

/** The limits of one requester. */
interface Allowance {
  /** Undecided requests. */
  pending: number
  perHour: number
  /** Bytes of all its requests that are stored. */
  bytes: number
}

const MIB = 1024 * 1024
/** A kubelet asks for its two certificates a few times a year, and four times an hour for one that nobody approves. */
const FOR_A_NODE: Allowance = {pending: 100, perHour: 60, bytes: MIB}
/** Enough for a token that joins a thousand machines, twice. */
const DEFAULT_REQUESTS_PER_HOUR = 2500
/** A request with its certificate takes about 5 kB and is kept for one to two hours. */
const BYTES_EACH = 12 * 1024
const MOST_PENDING = 500

export interface Allowances {
  forNodes: Allowance
  forOthers: Allowance
}

export const allowances = (perHour = DEFAULT_REQUESTS_PER_HOUR): Allowances => ({
  forNodes: FOR_A_NODE,
  forOthers: {pending: MOST_PENDING, perHour, bytes: perHour * BYTES_EACH},
})

const RETRY_SECONDS = 30
const LONGEST_RETRY = 60
const HOUR = 3_600_000

/**
 * One requester can neither fill the server with certificate requests nor get any number of certificates. Callers who may
 * delete requests are not limited.
 */
export function requestLimit(
  usage: Pick<RequestUsage, 'of'>,
  {forNodes, forOthers} = allowances(),
): AdmissionPlugin {
  const check = (operation: AdmissionOperation, context: OperationContext, own: 0 | 1) => {
    if (!isForRequests(operation, 'create', '')) return
    const {username, groups} = context.user
    const allowance = groups.includes('system:nodes') ? forNodes : forOthers
    const now = context.clock.now()
    const reached = reachedLimit(usage.of(context.user, now), allowance, now, own)
    if (reached === undefined || mayDelete(context)) return
    throw tooManyRequests(reached.seconds, reached.why(JSON.stringify(username)))
  }
  return {
    name: 'CertificateRequestLimit',
    admit: (operation, context) => check(operation, context, 0),
    confirm: (operation, context) => check(operation, context, 1),
  }
}

interface Reached {
  why: (who: string) => string
  /** When to try again. */
  seconds: number
}

/** `own`: how many of those that count are the request itself. */
function reachedLimit(
  {pending, bytes, made}: Usage,
  most: Allowance,
  now: Date,
  own: 0 | 1,
): Reached | undefined {
  if (pending - own >= most.pending) {
    const why = (who: string) =>
      `${pending - own} certificate signing requests of ${who} are pending; wait until they are decided`
    return {why, seconds: RETRY_SECONDS}
  }
  if (made.length - own >= most.perHour) {
    const oldest = Math.min(made[0] ?? 0, now.getTime())
    const seconds = Math.ceil((oldest + HOUR - now.getTime()) / 1000)
    const why = (who: string) =>
      `${who} has made ${made.length - own} certificate signing requests within an hour; try again later`
    return {why, seconds: Math.min(Math.max(seconds, 1), LONGEST_RETRY)}
  }
  // The last request that is accepted may exceed this one.
  if (own === 0 && bytes >= most.bytes) {
    const why = (who: string) =>
      `the certificate signing requests of ${who} take ${bytes} bytes; wait until some are cleaned away`
    return {why, seconds: LONGEST_RETRY}
  }
  return undefined
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
