import {findKind, findType, packageOfType} from '../../api/schema/index.ts'
import type {TypeSchema} from '../../api/schema/index.ts'
import {DecodeError, MalformedError} from './decode-error.ts'
import {jsonKind} from '../kernel/json-value.ts'
import {groupVersion} from '../kernel/resource.ts'

const META_PACKAGE = 'meta/v1'
const SCHEME = 'pkg/api/legacyscheme/scheme.go:30'

/** The kind that an endpoint accepts. */
export interface ExpectedType {
  type: TypeSchema
  group: string
  version: string
  kind: string
  /** Options such as DeleteOptions are part of every version of every group. */
  anyVersion: boolean
}

/** The kind that a body declares, with missing parts filled in. */
export interface StatedType {
  group: string
  version: string
  kind: string
}

export function expectedType(typeName: string): ExpectedType {
  const {name, group, version} = packageOfType(typeName)
  const kind = typeName.slice(typeName.lastIndexOf('.') + 1)
  return {type: findType(typeName), group, version, kind, anyVersion: name === META_PACKAGE}
}

/** Reads `kind` and `apiVersion` off a body. Both may be missing: then the endpoint's are used. */
export function statedType(
  body: {kind?: unknown; apiVersion?: unknown},
  expected: ExpectedType,
): StatedType {
  const kind = textOf('kind', body.kind)
  const apiVersion = textOf('apiVersion', body.apiVersion)
  const parts = apiVersion.split('/')
  if (parts.length > 2) {
    throw new MalformedError(`unexpected GroupVersion string: ${apiVersion}`)
  }
  const [group, version] =
    apiVersion === '' || apiVersion === '/'
      ? [expected.group, expected.version]
      : parts.length === 1
        ? ['', parts[0] ?? '']
        : [parts[0] ?? '', parts[1] ?? '']
  return {group, version, kind: kind === '' ? expected.kind : kind}
}

function textOf(field: string, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw new MalformedError(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(value)} into Go struct field .${field} of type string`,
  )
}

/** Refuses a body of another kind or version than the endpoint's, in Kubernetes' words. */
export function requireType(stated: StatedType, expected: ExpectedType): void {
  const sameKind = stated.kind === expected.kind
  if (sameKind && (expected.anyVersion || groupVersion(stated) === groupVersion(expected))) return
  if (expected.anyVersion) {
    throw new DecodeError(
      'badRequest',
      `decoded object cannot be converted to ${expected.kind}: it is a ${stated.kind}`,
    )
  }
  const known = findKind(stated.group, stated.version, stated.kind)
  if (known === undefined) {
    throw cannotBeHandled(
      stated,
      expected,
      `no kind "${stated.kind}" is registered for version "${groupVersion(stated)}" in scheme "${SCHEME}"`,
    )
  }
  if (sameKind && stated.group === expected.group) {
    throw new DecodeError(
      'badRequest',
      `the API version in the data (${groupVersion(stated)}) does not match the expected API version (${groupVersion(expected)})`,
    )
  }
  const internal = `${packageOfType(expected.type.name).name.split('/')[0] ?? ''}.${expected.kind}`
  throw cannotBeHandled(
    stated,
    expected,
    `converting (${stated.version}.${stated.kind}) to (${internal}): unknown conversion`,
  )
}

export const cannotBeHandled = (stated: StatedType, expected: ExpectedType, why: string) =>
  new DecodeError(
    'badRequest',
    `${stated.kind} in version "${stated.version}" cannot be handled as a ${expected.kind}: ${why}`,
  )
