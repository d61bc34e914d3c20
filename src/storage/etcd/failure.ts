import {messageOf, systemCode, TrustError} from '../../errors.ts'

/** The codes of gRPC that etcd uses. */
export const GRPC = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  outOfRange: 11,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const

/**
 * Why one attempt at one member failed. `unsent`: the member has not processed the request and never will. `refused`: it gave an
 * answer that any member would give. `unknown`: it may have processed the request, or still do so.
 */
type FailureKind = 'unsent' | 'refused' | 'unknown'

export class EtcdFailure extends Error {
  override name = 'EtcdFailure'
  readonly kind: FailureKind
  readonly code: number | undefined
  /** The member and this program do not trust each other's certificates. */
  readonly isDistrust: boolean

  constructor(
    kind: FailureKind,
    message: string,
    {code, cause, isDistrust = false}: {code?: number; cause?: unknown; isDistrust?: boolean} = {},
  ) {
    super(message, {cause})
    this.kind = kind
    this.code = code
    this.isDistrust = isDistrust
  }
}

/** Not all members that have answered belong to the same cluster. */
export class OtherCluster extends EtcdFailure {}

/** Whether etcd cannot be reached because of a certificate, its own or the client's. */
export const isDistrust = ({cause}: Error): boolean =>
  (cause as Partial<EtcdFailure> | undefined)?.isDistrust === true

const NO_CONNECTION = new Map([
  ['ECONNREFUSED', 'nothing listens there'],
  ['EHOSTUNREACH', 'there is no route to the host'],
  ['ENETUNREACH', 'there is no route to the network'],
  ['ENETDOWN', 'the network is down'],
  ['ENOTFOUND', 'its name does not exist'],
  ['EAI_AGAIN', 'its name cannot be resolved now'],
  ['UND_ERR_CONNECT_TIMEOUT', 'it did not accept a connection in time'],
  ['ETIMEDOUT', 'it did not accept a connection in time'],
])

const DISTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|INVALID_PURPOSE|INVALID_CA/
const REFUSED_US = /ALERT_(?:BAD_CERT|CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|UNSUPPORTED_CERT)/

/** A failure of a socket or of TLS, as one of this member. */
export function connectionFailure(error: unknown, server: string): EtcdFailure {
  if (error instanceof EtcdFailure) return error
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  const code = (inner && systemCode(inner)) ?? systemCode(error) ?? ''
  const reason = NO_CONNECTION.get(code)
  if (reason) return new EtcdFailure('unsent', `${server}: ${reason}`, {cause: error})
  if (REFUSED_US.test(code))
    return new EtcdFailure('unsent', `${server} refused the client certificate`, {
      cause: error,
      isDistrust: true,
    })
  if (DISTRUSTED.test(code))
    return new EtcdFailure(
      'unsent',
      `${server} presents a certificate that is not trusted: ${messageOf(inner ?? error)}`,
      {cause: error, isDistrust: true},
    )
  // Perhaps only the answer could not be read.
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO')
    return new EtcdFailure(
      'unknown',
      `${server} and this program could not agree on a secure connection (${code})`,
      {cause: error},
    )
  return new EtcdFailure('unknown', `${server} closed the connection`, {cause: error})
}

const NO_LEADER =
  /no leader|not leader|leader changed|too many requests|too many inflight|auth: revision in header is old/

/** A failure that etcd itself reports, as its gateway writes it. */
export function answeredFailure(code: number, message: string, server: string): EtcdFailure {
  const text = `${server}: ${message}`
  if (NO_LEADER.test(message)) return new EtcdFailure('unsent', text, {code})
  const isFinal = [
    GRPC.invalidArgument,
    GRPC.permissionDenied,
    GRPC.resourceExhausted,
    GRPC.outOfRange,
    GRPC.unimplemented,
    GRPC.unauthenticated,
  ].some((final) => final === code)
  return new EtcdFailure(isFinal ? 'refused' : 'unknown', text, {code})
}

/** etcd's quota is exceeded. */
export const isFull = ({message}: EtcdFailure): boolean => message.includes('space exceeded')

/** What a caller of the store gets for a failure of which nothing remains to be tried. */
export function storeError(failure: unknown): unknown {
  if (!(failure instanceof EtcdFailure)) return failure
  const {code, message} = failure
  const details = {cause: failure}
  if (code === GRPC.outOfRange && message.includes('compacted'))
    return new TrustError('STORE_COMPACTED', 'this revision has been compacted in etcd', details)
  if (code === GRPC.outOfRange && message.includes('future'))
    return new TrustError('INVALID', 'this revision has not been reached in etcd', details)
  if (/too large|larger than max/.test(message))
    return new TrustError('STORE_VALUE_TOO_LARGE', 'the object is larger than etcd accepts', {
      ...details,
      hints: ['make it smaller, or start every member of etcd with a larger --max-request-bytes'],
    })
  if (code === GRPC.resourceExhausted)
    return new TrustError('STORE_WRITE_FAILED', `the store cannot write: ${message}`, {
      ...details,
      hints: [
        'nothing was changed: if etcd is full, compact and defragment it, then run "etcdctl alarm disarm"',
      ],
    })
  return unreachable(message, failure)
}

function unreachable(reason: string, cause?: unknown): TrustError {
  return new TrustError('STORE_UNREACHABLE', `etcd does not respond: ${reason}`, {
    cause,
    hints: [
      'check that most members of etcd run ("etcdctl endpoint health --cluster")',
      'check --etcd-servers, --etcd-cafile, --etcd-certfile and --etcd-keyfile',
    ],
  })
}

export function uncertain(cause: unknown): TrustError {
  return new TrustError(
    'STORE_UNCERTAIN',
    `etcd did not confirm the write, which may still have been done: ${messageOf(cause)}`,
    {cause, hints: ['read the object to find out, then try again if needed']},
  )
}
