import type {UserInfo} from '../api/meta.ts'
import type {Clock} from '../runtime.ts'
import type {ApiRequest, ApiResponse, Handler, ResponseBody} from './kernel/api-request.ts'
import type {AuditLog} from './audit/audit-log.ts'
import {auditIdOf, type AuditedRequest} from './audit/event.ts'
import {attributesOf, parseRequestInfo, type RequestInfo} from './authz/request-info.ts'
import {cuttable, endingStream} from './ending-stream.ts'
import {failureResponse, type TellInternalError} from './failure-response.ts'
import {
  authorizeAgain,
  identify,
  identifyAgain,
  limited,
  type Identity,
  type IdentityDeps,
} from './identity.ts'
import type {RequestLimiter} from './limits/request-limiter.ts'
import type {RequestLabels, RequestMetrics} from './metrics/request-metrics.ts'
import type {OpenAnswers} from './open-answers.ts'
import type {ResourceCall} from './registry/endpoint.ts'
import {requestTimeout} from './registry/options.ts'
import {prettyIfWanted} from './pretty.ts'
import {RequestPlace} from './request-place.ts'
import {methodNotAllowed, type StatusError} from './kernel/status.ts'

export interface HandlerDeps extends IdentityDeps {
  limiter: RequestLimiter
  answers: OpenAnswers
  audit: AuditLog
  metrics: RequestMetrics
  labelsOf: (request: ApiRequest, info: RequestInfo | undefined) => RequestLabels
  clock: Clock
  serveResource: (call: ResourceCall) => Promise<ApiResponse>
  /** Serves the paths that are not resources. */
  serveDocument: (request: ApiRequest, path: string) => Promise<ApiResponse> | ApiResponse
  onInternalError: TellInternalError
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const READS = new Set(['get', 'list', 'watch'])
/** Answered however old memory is: probes have to tell this state from a server that hangs. */
const ALWAYS_ANSWERED = /^\/(?:livez|readyz|version)(?:\/|$)/

/**
 * The server as a function: authenticate, limit, authorize, route, respond. HTTP and clients in the same process both call
 * it, so no caller can bypass a step.
 */
export function createHandler(deps: HandlerDeps): Handler {
  return async (request) => {
    const received = deps.clock.now()
    const auditId = auditIdOf(request)
    const audited: AuditedRequest = {auditId, request, code: 0, received, answered: received}
    const started = performance.now()
    const {changes} = deps.answers
    let end: () => void = () => undefined
    let leave: () => void = () => undefined
    let answer: ApiResponse
    let served = request
    try {
      // HTTP/2 allows any word as a method.
      if (!METHODS.has(request.method)) throw methodNotAllowed()
      const info = parseRequestInfo(request.method, request.path, request.query)
      audited.info = info
      if (info.kind === 'resource' || !ALWAYS_ANSWERED.test(info.path))
        await deps.registry.age.require()
      const identity = await identify(deps, request, attributesOf(info), audited)
      const guard = {identity, request, info, changes, audited}
      const place = new RequestPlace(deps, limited(request, identity.caller), request)
      end = () => place.end()
      served = await place.admit(info)
      answer = place.counted(prettyIfWanted(request, await serve(deps, served, guard)))
      if (answer.events !== undefined || !isWhole(answer.body))
        ({answer, leave} = guarded(deps, answer, guard, (error) => place.stop(error)))
    } catch (error) {
      answer = prettyIfWanted(request, failureResponse(error, request, deps.onInternalError))
    }
    return finish(deps, {request: served, audited, answer, started, end, leave})
  }
}

interface Guard {
  identity: Identity
  request: ApiRequest
  info: RequestInfo
  /** The number of changes when the caller was last checked. */
  changes: number
  audited: AuditedRequest
}

/** A response that is still open ends once its caller would be refused: a watch with the reason, a long list in the middle. */
function guarded(
  deps: HandlerDeps,
  answer: ApiResponse,
  {identity: {caller, expires, effective}, request, info, changes}: Guard,
  stopWatch: (error: StatusError) => void,
): {answer: ApiResponse; leave: () => void} {
  const attributes = attributesOf(info)
  const authorize = (user: UserInfo) => authorizeAgain(deps, user, request, attributes)
  const watchOver = (end: (error: StatusError) => void) =>
    deps.answers.add({request, caller, effective, expires, changes, authorize, end})
  if (answer.finite !== true) return {answer, leave: watchOver(stopWatch)}
  const {stream, cut} = cuttable(answer.body as AsyncIterable<string | Uint8Array>)
  return {answer: {...answer, body: stream}, leave: watchOver(cut)}
}

const isWhole = (body: ResponseBody): body is string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array

async function serve(deps: HandlerDeps, request: ApiRequest, guard: Guard): Promise<ApiResponse> {
  const {info, identity} = guard
  // Any request may have a timeout; only lists wait for something that it could interrupt.
  if (info.verb !== 'watch') requestTimeout(request.query)
  if (info.kind !== 'resource') return deps.serveDocument(request, info.path)
  const requireStillAllowed = () => stillAllowed(deps, guard)
  const {effective: user, callerKey} = identity
  const hasWritten = () => {
    guard.audited.hasWritten = true
  }
  const call = {info, request, user, requireStillAllowed, hasWritten, callerKey}
  const answer = await deps.serveResource(call)
  if (READS.has(info.verb)) await requireStillAllowed()
  return answer
}

/**
 * While a request waited for its body, or for what other servers have written, its caller may have lost the credential or the right, by
 * a change or by time.
 */
function stillAllowed(deps: HandlerDeps, guard: Guard): Promise<void> | undefined {
  const {expires} = guard.identity
  const hasExpired = expires !== undefined && expires <= deps.clock.now()
  const hasChanged = deps.answers.changes !== guard.changes
  return hasChanged || hasExpired || deps.registry.age.isOld ? checkAgain(deps, guard) : undefined
}

async function checkAgain(deps: HandlerDeps, guard: Guard): Promise<void> {
  await deps.registry.age.require()
  const {changes} = deps.answers
  await identifyAgain(deps, guard.identity, guard.request, attributesOf(guard.info))
  guard.changes = changes
}

interface Finish {
  request: ApiRequest
  audited: AuditedRequest
  answer: ApiResponse
  started: number
  /** Gives back what the work took. */
  end: () => void
  /** The response no longer needs to be checked for revoked rights. */
  leave: () => void
}

function finish(deps: HandlerDeps, finished: Finish): ApiResponse {
  const {request, audited, answer, started, end, leave} = finished
  const {body, status, headers} = answer
  audited.code = status
  const note = () => {
    end()
    leave()
    audited.answered = deps.clock.now()
    deps.audit.record(audited)
    const labels = deps.labelsOf(request, audited.info)
    deps.metrics.finished(labels, status, (performance.now() - started) / 1000)
  }
  const named = {...headers, 'Audit-Id': audited.auditId}
  // The work is done: a slow reader must not occupy a slot.
  if (answer.finite === true) end()
  if (answer.events !== undefined)
    return withHeaders(answer, named, body, endingStream(answer.events, request.signal, note))
  if (!isWhole(body) && request.method !== 'HEAD')
    return withHeaders(answer, named, endingStream(body, request.signal, note))
  note()
  if (request.method !== 'HEAD') return withHeaders(answer, named, body)
  const length = isWhole(body) ? {'Content-Length': String(Buffer.byteLength(body))} : {}
  return {status, headers: {...named, ...length}, body: ''}
}

/** Every field by its name: all responses have one shape, which V8 handles much faster than copies of many shapes. */
const withHeaders = (
  {status, value, finite, reading}: ApiResponse,
  headers: ApiResponse['headers'],
  body: ResponseBody,
  events?: ApiResponse['events'],
): ApiResponse => ({status, headers, body, value, events, finite, reading})
