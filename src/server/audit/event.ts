import {randomUUID} from 'node:crypto'
import type {UserInfo} from '../../api/meta.ts'
import type {ApiRequest} from '../kernel/api-request.ts'
import {CREDENTIAL_ID, credentialOf} from '../../csr/credential.ts'
import type {RequestInfo} from '../authz/request-info.ts'

/** What is known about a request once it has a response. */
export interface AuditedRequest {
  auditId: string
  request: Pick<ApiRequest, 'caller' | 'headers' | 'method' | 'path' | 'remoteAddress'>
  /** Absent if the path could not be read. */
  info?: RequestInfo
  /** Who called; absent if authentication failed. */
  caller?: UserInfo
  /** The fingerprint of the CA of the caller's certificate. */
  issuer?: string
  /** The impersonated user, if any. */
  impersonated?: UserInfo
  decision?: 'allow' | 'forbid'
  reason?: string
  /** Why the caller's credential was refused. */
  refused?: string
  code: number
  received: Date
  answered: Date
}

const AUDIT_ID = /^[A-Za-z0-9-]{1,64}$/

/** The name of a request: the caller's own where it has given one, or a new one. */
export function auditIdOf({headers}: Pick<ApiRequest, 'headers'>): string {
  const given = headers['audit-id'] ?? ''
  if (AUDIT_ID.test(given)) return given
  const made = randomUUID()
  // A tree of twenty strings, which a watch would keep: to look through it makes it one.
  AUDIT_ID.test(made)
  return made
}

interface AuditUser {
  username?: string
  uid?: string
  groups?: string[]
  extra?: Record<string, string[]>
}

/**
 * A line of the audit log: an Event of audit.k8s.io/v1 at the level Metadata. No body, no header but the User-Agent, and no
 * query: those may hold secrets.
 */
export interface AuditEvent {
  kind: 'Event'
  apiVersion: 'audit.k8s.io/v1'
  level: 'Metadata'
  auditID: string
  stage: 'ResponseComplete'
  requestURI: string
  verb: string
  user: AuditUser
  impersonatedUser?: AuditUser
  sourceIPs?: string[]
  userAgent?: string
  objectRef?: Record<string, string>
  responseStatus?: {metadata: object; status?: 'Failure'; code: number}
  requestReceivedTimestamp: string
  stageTimestamp: string
  annotations?: Record<string, string>
}

export const ANNOTATION = {
  decision: 'authorization.k8s.io/decision',
  reason: 'authorization.k8s.io/reason',
  /** The SHA-256 of the CA of a client certificate: shows who still uses a CA that is being replaced. */
  issuer: 'trustadm.io/issuer',
  /** Why a credential was refused. */
  refused: 'trustadm.io/refused',
  /** How many requests this line counts that are not listed individually. */
  requests: 'trustadm.io/requests',
  /** How many lines before this one were lost. */
  lost: 'trustadm.io/lost-lines',
} as const

const LONGEST = {text: 256, uri: 512, groups: 1024}
/** Control characters take six bytes each in JSON, and no tool needs them. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/gu

/** Most texts are plain, and this check is much faster. */
const PLAIN = /^[\x20-\x7e]*$/

function shorten(text: string, limit = LONGEST.text): string {
  const short = text.length <= limit ? text : `${text.slice(0, limit)}…`
  return PLAIN.test(short) ? short : short.replaceAll(UNPRINTABLE, '?')
}

/** Removes what is absent or empty. */
function given(values: Record<string, string | undefined>): Record<string, string> {
  const present: Record<string, string> = {}
  for (const key in values) {
    const value = values[key]
    if (value !== undefined && value !== '') present[key] = shorten(value)
  }
  return present
}

/** Kubernetes' MicroTime. */
const microTime = (time: Date) => time.toISOString().replace('Z', '000Z')

export function auditEvent(audited: AuditedRequest): AuditEvent {
  const {auditId, request, info, caller, issuer, impersonated, decision, reason, refused} = audited
  const event: AuditEvent = {
    ...header(auditId),
    requestURI: shorten(request.path, LONGEST.uri),
    verb: info?.verb ?? shorten(request.method.toLowerCase()),
    user: userOf(caller),
    responseStatus: statusOf(audited.code),
    requestReceivedTimestamp: microTime(audited.received),
    stageTimestamp: microTime(audited.answered),
  }
  if (impersonated !== undefined) event.impersonatedUser = userOf(impersonated)
  if (request.remoteAddress !== '') event.sourceIPs = [request.remoteAddress]
  const userAgent = request.headers['user-agent'] ?? ''
  if (userAgent !== '') event.userAgent = shorten(userAgent)
  if (info?.kind === 'resource') event.objectRef = refOf(info)
  const annotations = given({
    [ANNOTATION.decision]: decision,
    [ANNOTATION.reason]: decision === undefined ? undefined : reason,
    [ANNOTATION.issuer]: issuer,
    [ANNOTATION.refused]: refused,
  })
  if (Object.keys(annotations).length > 0) event.annotations = annotations
  return event
}

export interface Summary {
  auditId: string
  annotations: Record<string, string>
  since: Date
  until: Date
  code?: number
  sourceIPs?: string[]
}

/** A line that counts several requests. */
export const summaryEvent = (summary: Summary): AuditEvent => ({
  ...header(summary.auditId),
  requestURI: '',
  verb: '',
  user: {},
  ...(summary.sourceIPs === undefined ? {} : {sourceIPs: summary.sourceIPs}),
  ...(summary.code === undefined ? {} : {responseStatus: statusOf(summary.code)}),
  requestReceivedTimestamp: microTime(summary.since),
  stageTimestamp: microTime(summary.until),
  annotations: given(summary.annotations),
})

const header = (auditId: string) =>
  ({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: shorten(auditId, 64),
    stage: 'ResponseComplete',
  }) as const

const statusOf = (code: number) => ({
  metadata: {},
  ...(code >= 400 ? ({status: 'Failure'} as const) : {}),
  code,
})

const NOBODY: AuditUser = {}
/** Most requests come from callers that made others before. */
const users = new WeakMap<UserInfo, AuditUser>()

function userOf(user: UserInfo | undefined): AuditUser {
  if (user === undefined) return NOBODY
  const known = users.get(user)
  if (known !== undefined) return known
  const described = describe(user)
  users.set(user, described)
  return described
}

function describe(user: UserInfo): AuditUser {
  const credential = credentialOf(user)
  return {
    ...given({username: user.username, uid: user.uid}),
    groups: shortGroups(user.groups),
    ...(credential === undefined ? {} : {extra: {[CREDENTIAL_ID]: [shorten(credential)]}}),
  }
}

function shortGroups(groups: readonly string[]): string[] {
  const kept: string[] = []
  let left = LONGEST.groups
  for (const group of groups) {
    left -= group.length
    if (left < 0) return [...kept, '…']
    kept.push(shorten(group))
  }
  return kept
}

const refOf = ({
  group,
  version,
  resource,
  subresource,
  namespace,
  name,
}: RequestInfo & {kind: 'resource'}) =>
  given({resource, namespace, name, apiGroup: group, apiVersion: version, subresource})
