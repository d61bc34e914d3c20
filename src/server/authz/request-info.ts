import type {AccessAttributes} from '../kernel/resource.ts'
import {badRequest} from '../kernel/status.ts'
import {nameOf} from '../selectors/field-selector.ts'

interface CanonicalPath {
  /** Decoded; none is empty, `.` or `..`. */
  segments: string[]
  trailingSlash: boolean
  /** The path had consecutive slashes. */
  emptySegments: boolean
}

const MAX_PATH = 8192
const ENCODED_SEPARATOR = /%(?:2f|5c|00)/i
const CONTROL = /[\p{Cc}\\]/u

const refuse = (why: string) => badRequest(`the path ${why}`)

/**
 * Splits a path once for both routing and authorization, so that the router never serves what the authorizer did not check
 * (CVE-2022-3162). Throws BadRequest for dot segments, encoded slashes, bad escapes and control characters.
 */
function canonicalSegments(path: string): CanonicalPath {
  if (!path.startsWith('/')) throw refuse('does not begin with a slash')
  if (path.length > MAX_PATH) throw refuse('is too long')
  if (ENCODED_SEPARATOR.test(path)) throw refuse('has an encoded slash, backslash or NUL')
  if (/[?#]/.test(path)) throw refuse('has a query or a fragment')

  const raw = path.split('/').slice(1)
  const trailingSlash = raw.at(-1) === ''
  const inner = trailingSlash ? raw.slice(0, -1) : raw
  const segments = inner.filter((segment) => segment !== '').map(decodeSegment)
  return {segments, trailingSlash, emptySegments: segments.length !== inner.length}
}

function decodeSegment(segment: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(segment)
  } catch {
    throw refuse('has an invalid percent-encoding')
  }
  if (decoded === '.' || decoded === '..') throw refuse('has a dot segment')
  if (CONTROL.test(decoded)) throw refuse('has a control character or a backslash')
  return decoded
}

/** A request for a resource: the router and the authorizer both use this one parse. */
export interface ResourceRequestInfo {
  kind: 'resource'
  verb: string
  group: string
  version: string
  /** The plural. */
  resource: string
  subresource: string
  /** For `/namespaces/<x>` itself it is `x` too, so that a RoleBinding in x can grant access to the namespace. */
  namespace: string
  name: string
  /**
   * The path has the form `/namespaces/<ns>/<resource>`. A resource without namespaces must not be served there: the roles
   * of an unrelated namespace would apply to it.
   */
  inNamespace: boolean
  /** The name comes from the path, not from a field selector. */
  named: boolean
  /** By the old form `/api/v1/watch/…`. */
  watchPath: boolean
  /** Segments behind the subresource; nothing here has any. */
  rest: string[]
  fieldSelector?: string
  labelSelector?: string
}

interface NonResourceRequestInfo {
  kind: 'nonResource'
  verb: string
  /** Decoded, with a trailing slash if one was sent. */
  path: string
}

export type RequestInfo = NonResourceRequestInfo | ResourceRequestInfo

const VERBS: Record<string, string> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

const NAMESPACE_SUBRESOURCES = new Set(['finalize', 'status'])

/** Query parameters are read as Kubernetes does: present and neither `false` nor `0` means true. */
const isSet = (value: string | null) =>
  value !== null && !['0', 'false'].includes(value.toLowerCase())

/**
 * Turns path, method and query into the authorizer's input, as Kubernetes' RequestInfoFactory. Throws BadRequest for paths
 * that two readers could understand differently.
 */
export function parseRequestInfo(
  method: string,
  path: string,
  query: URLSearchParams,
): RequestInfo {
  const {segments, trailingSlash, emptySegments} = canonicalSegments(path)
  const [prefix, ...afterPrefix] = segments
  const isResource =
    (prefix === 'api' && segments.length >= 3) || (prefix === 'apis' && segments.length >= 4)
  if (!isResource) {
    if (emptySegments && (prefix === 'api' || prefix === 'apis')) throw ambiguous()
    return {
      kind: 'nonResource',
      verb: method.toLowerCase(),
      path: `/${segments.join('/')}${trailingSlash && segments.length > 0 ? '/' : ''}`,
    }
  }
  if (emptySegments) throw ambiguous()

  const [group = '', version = '', ...parts] = prefix === 'api' ? ['', ...afterPrefix] : afterPrefix
  return resourceInfo({group, version, parts, verb: VERBS[method] ?? '', query})
}

const ambiguous = () => badRequest('the path has empty segments')

function resourceInfo({
  group,
  version,
  parts,
  verb: methodVerb,
  query,
}: {
  group: string
  version: string
  parts: string[]
  verb: string
  query: URLSearchParams
}): ResourceRequestInfo {
  const watchPath = parts[0] === 'watch'
  if (watchPath && parts.length < 2) throw badRequest('the path names no resource to watch')
  const all = watchPath ? parts.slice(1) : parts
  const [first = '', second = '', third = ''] = all
  const inNamespace = first === 'namespaces' && third !== '' && !NAMESPACE_SUBRESOURCES.has(third)
  const own = inNamespace ? all.slice(2) : all
  const [resource = '', pathName = '', subresource = '', ...rest] = own

  const isList = pathName === '' && methodVerb === 'get'
  const fieldSelector = query.get('fieldSelector') ?? undefined
  const labelSelector = query.get('labelSelector') ?? undefined
  const verb = refineVerb(methodVerb, {
    watch: watchPath || (isList && isSet(query.get('watch'))),
    named: pathName !== '',
  })
  const selectedName = verb === 'list' || verb === 'watch' ? nameOf(fieldSelector ?? '') : undefined
  return {
    kind: 'resource',
    verb,
    group,
    version,
    resource,
    subresource,
    namespace: first === 'namespaces' ? second : '',
    name: pathName === '' ? (selectedName ?? '') : pathName,
    inNamespace,
    named: pathName !== '',
    watchPath,
    rest,
    ...(fieldSelector === undefined ? {} : {fieldSelector}),
    ...(labelSelector === undefined ? {} : {labelSelector}),
  }
}

function refineVerb(verb: string, {watch, named}: {watch: boolean; named: boolean}): string {
  if (watch) return 'watch'
  if (named) return verb
  if (verb === 'get') return 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}

/** The authorizer's input for a request. */
export function attributesOf(info: RequestInfo): AccessAttributes {
  if (info.kind === 'nonResource') return {verb: info.verb, path: info.path}
  const {verb, group, version, resource, subresource, namespace, name} = info
  const {fieldSelector, labelSelector} = info
  return {
    verb,
    resource: {
      group,
      version,
      resource,
      subresource,
      namespace,
      name,
      ...(fieldSelector === undefined ? {} : {fieldSelector}),
      ...(labelSelector === undefined ? {} : {labelSelector}),
    },
  }
}
