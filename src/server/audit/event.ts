import type {UserInfo} from '../../api/meta.ts'
import type {ApiRequest} from '../api-request.ts'
import {CREDENTIAL_ID} from '../authn/users.ts'
import type {RequestInfo} from '../authz/request-info.ts'

/** What is known of a request once it has been answered. */
export interface AuditedRequest {
  auditId: string
  request: Pick<ApiRequest, 'headers' | 'method' | 'path' | 'remoteAddress'>
  /** Absent where the path could not be read. */
  info?: RequestInfo
  /** Who called; absent where authentication failed. */
  caller?: UserInfo
  /** Who it was done as, where that is somebody else. */
  impersonated?: UserInfo
  decision?: 'allow' | 'forbid'
  reason?: string
  code: number
  received: Date
  answered: Date
}

/** One line of the audit log. No body, no header and no query: those may hold secrets. */
export interface AuditEvent {
  ts: string
  auditID: string
  user?: string
  groups?: string[]
  credentialId?: string
  impersonatedUser?: string
  impersonatedGroups?: string[]
  sourceIP: string
  userAgent?: string
  verb: string
  path?: string
  apiGroup?: string
  apiVersion?: string
  resource?: string
  subresource?: string
  namespace?: string
  name?: string
  decision?: 'allow' | 'forbid'
  reason?: string
  code: number
  latencyMs: number
}

const MAX_TEXT = 256
const MAX_GROUPS = 32

const shorten = (text: string, limit = MAX_TEXT) =>
  text.length <= limit ? text : `${text.slice(0, limit)}…`

const given = <K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> =>
  value === undefined || value === '' ? {} : ({[key]: shorten(value)} as Record<K, string>)

export function auditEvent(audited: AuditedRequest): AuditEvent {
  const {auditId, request, info, caller, impersonated, decision, reason} = audited
  const {code, received, answered} = audited
  return {
    ts: received.toISOString(),
    auditID: shorten(auditId, 64),
    ...given('user', caller?.username),
    ...(caller === undefined ? {} : {groups: shortGroups(caller)}),
    ...given('credentialId', caller?.extra?.[CREDENTIAL_ID]?.[0]),
    ...given('impersonatedUser', impersonated?.username),
    ...(impersonated === undefined ? {} : {impersonatedGroups: shortGroups(impersonated)}),
    sourceIP: request.remoteAddress,
    ...given('userAgent', request.headers['user-agent']),
    verb: info?.verb ?? request.method.toLowerCase(),
    ...target(info, request.path),
    ...(decision === undefined ? {} : {decision}),
    ...given('reason', reason),
    code,
    latencyMs: Math.max(0, answered.getTime() - received.getTime()),
  }
}

const shortGroups = ({groups}: UserInfo) =>
  groups.slice(0, MAX_GROUPS).map((group) => shorten(group))

function target(info: RequestInfo | undefined, path: string) {
  if (info?.kind !== 'resource') return {path: shorten(info?.path ?? path)}
  return {
    ...given('apiGroup', info.group),
    ...given('apiVersion', info.version),
    ...given('resource', info.resource),
    ...given('subresource', info.subresource),
    ...given('namespace', info.namespace),
    ...given('name', info.name),
  }
}
