import {randomUUID} from 'node:crypto'
import type {UserInfo} from '../../api/meta.ts'
import type {ApiRequest} from '../kernel/api-request.ts'
import {CREDENTIAL_ID, credentialOf} from '../../csr/user-extra.ts'
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
  /** Something was stored, or a token was issued. */
  hasWritten?: boolean
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
const microTime = (time: Date) => `${time.toISOString().slice(0, -1)}000Z`

const quoted = (text: string) => JSON.stringify(text)

/** A member of a JSON object behind others; nothing if the value is absent or empty. */
const member = (name: string, value: string | undefined, limit?: number) =>
  value === undefined || value === '' ? '' : `,"${name}":${quoted(shorten(value, limit))}`

/** An object of members; nothing if there are none. */
const objectOf = (name: string, members: string) =>
  members === '' ? '' : `,"${name}":{${members.slice(1)}}`

/** An AuditEvent as JSON. Put together as text: an object for each request that is only written out costs several times as much. */
export function auditLine(audited: AuditedRequest): string {
  const {auditId, request, info, caller, issuer, impersonated, decision, reason, refused} = audited
  const {remoteAddress, headers} = request
  const about =
    info?.kind === 'resource'
      ? member('resource', info.resource) +
        member('namespace', info.namespace) +
        member('name', info.name) +
        member('apiGroup', info.group) +
        member('apiVersion', info.version) +
        member('subresource', info.subresource)
      : ''
  const annotations =
    member(ANNOTATION.decision, decision) +
    member(ANNOTATION.reason, decision === undefined ? undefined : reason) +
    member(ANNOTATION.issuer, issuer) +
    member(ANNOTATION.refused, refused)
  return (
    '{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete"' +
    `,"auditID":${quoted(shorten(auditId, 64))}` +
    `,"requestURI":${quoted(shorten(request.path, LONGEST.uri))}` +
    `,"verb":${quoted(info?.verb ?? shorten(request.method.toLowerCase()))}` +
    `,"user":${userText(caller)}` +
    (impersonated === undefined ? '' : `,"impersonatedUser":${userText(impersonated)}`) +
    (remoteAddress === '' ? '' : `,"sourceIPs":[${quoted(remoteAddress)}]`) +
    member('userAgent', headers['user-agent']) +
    objectOf('objectRef', about) +
    `,"responseStatus":{"metadata":{}${audited.code >= 400 ? ',"status":"Failure"' : ''},"code":${audited.code}}` +
    `,"requestReceivedTimestamp":"${microTime(audited.received)}"` +
    `,"stageTimestamp":"${microTime(audited.answered)}"` +
    objectOf('annotations', annotations) +
    '}'
  )
}

export interface Summary {
  auditId: string
  annotations: Record<string, string>
  since: Date
  until: Date
  caller?: UserInfo
  code?: number
  sourceIPs?: string[]
}

/** A line that counts several requests. */
export const summaryEvent = (summary: Summary): AuditEvent => ({
  ...header(summary.auditId),
  requestURI: '',
  verb: '',
  user: summary.caller === undefined ? {} : describe(summary.caller),
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

/** Most requests come from callers that made others before. */
const users = new WeakMap<UserInfo, string>()

function userText(user: UserInfo | undefined): string {
  if (user === undefined) return '{}'
  const known = users.get(user)
  if (known !== undefined) return known
  const described = JSON.stringify(describe(user))
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
