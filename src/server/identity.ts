import type {UserInfo} from '../api/meta.ts'
import {messageOf} from '../errors.ts'
import type {AuditedRequest} from './audit/event.ts'
import type {Authenticate} from './authn/authenticator.ts'
import {impersonate, parseImpersonation} from './authn/impersonation.ts'
import {requireAllowed} from './authz/authorizer.ts'
import type {ApiRequest} from './kernel/api-request.ts'
import {deepEqual} from './kernel/json-value.ts'
import type {AccessAttributes, Authorize} from './kernel/resource.ts'
import {StatusError, unauthorized} from './kernel/status.ts'
import type {RequestLimiter} from './limits/request-limiter.ts'
import {hasNews} from './registry/freshness.ts'
import type {Registry} from './registry/registry.ts'

export interface IdentityDeps {
  authenticate: Authenticate
  authorize: Authorize
  limiter: Pick<RequestLimiter, 'charge' | 'countRefused'>
  /** What authentication and authorization read: it may be behind what other servers have written. */
  registry: Registry
}

/** The caller, when its credential expires, and the user that the request acts as. */
export interface Identity {
  caller: UserInfo
  expires?: Date | undefined
  effective: UserInfo
  /** The pin of the key of its client certificate. */
  callerKey?: string | undefined
}

/** What memory says about a request; some of it is known of a refused one, too. */
interface Verdict extends Partial<Identity> {
  issuer?: string
  impersonated?: UserInfo
  /** Why the request is allowed. */
  reason?: string
  refusal?: unknown
}

/**
 * Finds out who calls and whom the request acts as, and checks that this user is allowed. Nobody is refused because this server has not
 * heard yet of a token or a right that another one has granted.
 */
export async function identify(
  deps: IdentityDeps,
  request: ApiRequest,
  attributes: AccessAttributes,
  audited: AuditedRequest,
): Promise<Identity> {
  const {revision} = deps.registry
  let verdict = await judge(deps, request, attributes)
  note(audited, verdict)
  // First: whoever has been refused too often gets nobody to ask the store.
  count(deps, request, verdict)
  if (isRefusal(verdict.refusal) && (await hasNews(deps.registry, revision))) {
    verdict = await judge(deps, request, attributes)
    delete audited.refused
    note(audited, verdict)
  }
  const {caller, effective, expires, callerKey, refusal} = verdict
  if (caller === undefined || effective === undefined) throw refusal
  return {caller, expires, effective, callerKey}
}

/** Throws TooManyRequests. */
function count({limiter}: IdentityDeps, request: ApiRequest, {caller, refusal}: Verdict): void {
  if (caller !== undefined) limiter.charge(limited(request, caller))
  else if (codeOf(refusal) === 401) limiter.countRefused(request.remoteAddress)
}

async function judge(
  deps: IdentityDeps,
  request: ApiRequest,
  attributes: AccessAttributes,
): Promise<Verdict> {
  let verdict: Verdict = {}
  try {
    const {user: caller, issuer, expires, key: callerKey} = await deps.authenticate(request)
    verdict = {caller, expires, callerKey, ...(issuer === undefined ? {} : {issuer})}
    const {effective, impersonated} = actingAs(deps, caller, request, attributes)
    if (impersonated !== undefined) verdict.impersonated = impersonated
    const reason = requireAllowed(deps.authorize, effective, attributes)
    request.loggedIn?.(caller)
    return {...verdict, effective, reason}
  } catch (refusal) {
    if (verdict.caller !== undefined || codeOf(refusal) === 401) request.loggedIn?.(verdict.caller)
    return {...verdict, refusal}
  }
}

function note(audited: AuditedRequest, verdict: Verdict): void {
  const {caller, issuer, impersonated, effective, reason, refusal} = verdict
  if (caller !== undefined) audited.caller = caller
  if (issuer !== undefined) audited.issuer = issuer
  if (impersonated !== undefined) audited.impersonated = impersonated
  if (effective !== undefined) {
    audited.decision = 'allow'
    if (reason !== undefined) audited.reason = reason
  } else if (refusal instanceof StatusError && refusal.code === 403) {
    audited.decision = 'forbid'
    audited.reason = refusal.message
  } else if (codeOf(refusal) === 401 && (refusal as StatusError).cause !== undefined)
    audited.refused = messageOf((refusal as StatusError).cause)
}

const codeOf = (error: unknown): number | undefined =>
  error instanceof StatusError ? error.code : undefined

const isRefusal = (error: unknown): boolean => [401, 403].includes(codeOf(error) ?? 0)

/** The user that a request acts as: its caller, or the user that the caller impersonates and may. */
function actingAs(
  {authorize}: Pick<IdentityDeps, 'authorize'>,
  caller: UserInfo,
  {rawHeaders}: ApiRequest,
  attributes: AccessAttributes,
): {effective: UserInfo; impersonated?: UserInfo} {
  const wish = parseImpersonation(rawHeaders)
  if (wish === undefined) return {effective: caller}
  const impersonated = impersonate(caller, wish, {authorize, request: attributes})
  return {effective: impersonated, impersonated}
}

/** Throws Forbidden if the caller may not do any more what it was allowed to. */
export function authorizeAgain(
  deps: Pick<IdentityDeps, 'authorize'>,
  caller: UserInfo,
  request: ApiRequest,
  attributes: AccessAttributes,
): void {
  const {effective} = actingAs(deps, caller, request, attributes)
  requireAllowed(deps.authorize, effective, attributes)
}

/** Throws if the caller of an earlier check would be refused by now. */
export async function identifyAgain(
  deps: Pick<IdentityDeps, 'authenticate' | 'authorize'>,
  {caller}: Identity,
  request: ApiRequest,
  attributes: AccessAttributes,
): Promise<void> {
  const {user} = await deps.authenticate(request)
  // Another credential of the same request does not replace the revoked one, nor do groups that the caller has lost meanwhile count.
  if (!deepEqual(user, caller)) throw unauthorized()
  authorizeAgain(deps, user, request, attributes)
}

/** The caller as the limits know it. */
export const limited = (request: ApiRequest, user: UserInfo) => ({
  user,
  remoteAddress: request.remoteAddress,
  inProcess: request.caller !== undefined,
})
