import type {ApiObject} from '../../api/meta.ts'
import {findKind, findType} from '../../api/schema/index.ts'
import {conform} from '../codec/conform.ts'
import {isObject, type JsonObject} from '../kernel/json-value.ts'
import {MalformedError} from '../codec/decode-error.ts'
import {invalidValue} from '../kernel/field-error.ts'
import {invalid, type StatusError} from '../kernel/status.ts'
import type {WriteOptions} from './options.ts'
import {requireSameName, requireSameNamespace} from './request-identity.ts'
import type {WriteTarget} from './write.ts'

/** A patched object as the text that Kubernetes decodes, its outermost keys in order. */
export const patchedText = (value: unknown): string =>
  JSON.stringify(
    isObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )

const refused = (shown: string, why: string): StatusError =>
  invalid({group: '', kind: ''}, '', [invalidValue('patch', shown, why)])

/** A patch cannot change the kind of an object. As the decoder of Kubernetes' jsonPatcher. */
export function requireSameKind(value: unknown, {kind, apiVersion}: JsonObject, shown: string) {
  const now = value as JsonObject
  if (now.kind === kind && now.apiVersion === apiVersion) return
  const text = (field: unknown) => (typeof field === 'string' ? field : '')
  const [newKind, newVersion] = [text(now.kind), text(now.apiVersion)]
  const [group = '', version = ''] = newVersion.includes('/')
    ? newVersion.split('/')
    : ['', newVersion]
  if (newKind === '') throw refused(shown, `Object 'Kind' is missing in '${shown}'`)
  throw refused(
    shown,
    findKind(group, version, newKind) === undefined
      ? `no kind "${newKind}" is registered for version "${newVersion}" in scheme "pkg/api/legacyscheme/scheme.go:30"`
      : `converting (${version}.${newKind}) to (${internalGroup(apiVersion)}.${String(kind)}): unknown conversion`,
  )
}

/** The package of the internal type: `core` without a group, else the first word of the group. */
function internalGroup(apiVersion: unknown): string {
  const text = String(apiVersion)
  return text.includes('/') ? text.slice(0, text.search(/[./]/)) : 'core'
}

/** A patched object must still be valid for its kind. `shown` is what an error message shows of it. */
export function toTyped(
  value: unknown,
  {store: {resource}, context}: WriteTarget,
  {options, typeName}: {options: WriteOptions; typeName: string},
  shown: string,
): ApiObject {
  try {
    const {object, unknown} = conform(findType(typeName), value, {
      custom: resource.custom === true,
    })
    const findings = unknown.map((path) => `unknown field ${JSON.stringify(path)}`)
    if (findings.length > 0 && options.fieldValidation === 'Strict')
      throw refused(shown, `strict decoding error: ${findings.join(', ')}`)
    if (options.fieldValidation === 'Warn') findings.forEach((text) => context.warn(text))
    requireSameName(object as ApiObject, context.name)
    requireSameNamespace(object as ApiObject, context.namespace)
    return object as ApiObject
  } catch (error) {
    throw error instanceof MalformedError ? refused(shown, error.message) : error
  }
}
