import type {ApiObject} from '../../api/meta.ts'
import {findKind, findType} from '../../api/schema/index.ts'
import {conform} from '../codec/conform.ts'
import {MalformedError} from '../codec/decode-error.ts'
import {parseJson} from '../codec/json.ts'
import {parseYaml} from '../codec/yaml.ts'
import {invalidValue} from '../kernel/field-error.ts'
import {isObject, type JsonObject} from '../kernel/json-value.ts'
import {
  badRequest,
  conflict,
  invalid,
  notFound,
  type StatusError,
  unsupportedMediaType,
} from '../kernel/status.ts'
import {apply} from '../managed-fields/apply.ts'
import {goText} from '../patch/go-text.ts'
import {applyJsonPatch, applyMergePatch, MOST_PATCH_DEPTH} from '../patch/json-patch.ts'
import {applyStrategicMergePatch} from '../patch/strategic-merge.ts'
import {create, isAlreadyThere} from './create.ts'
import {catchUp} from './freshness.ts'
import {requireApplyOptions, type WriteOptions} from './options.ts'
import {requireCreate, update} from './update.ts'
import {
  requireSameName,
  requireSameNamespace,
  trackingOf,
  type WriteResult,
  type WriteServices,
  type WriteTarget,
} from './write.ts'

type PatchKind = 'apply' | 'json' | 'merge' | 'strategic'

const KINDS: Record<string, PatchKind> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}

/** Kubernetes serves custom kinds with another handler, which gives more details. */
const CUSTOM_ACCEPTS =
  'the body of the request was in an unknown format - accepted media types include: ' +
  Object.keys(KINDS)
    .filter((type) => KINDS[type] !== 'strategic')
    .join(', ')

interface PatchRequest {
  contentType: string
  bytes: Uint8Array
  options: WriteOptions
  /** The name of the served version's type in the schema table. */
  typeName: string
  kind: string
  /** The served version's own defaults. */
  defaults?: (object: ApiObject) => void
}

/** Changes an object by a patch of one of Kubernetes' four kinds. */
export async function patch(
  services: WriteServices,
  target: WriteTarget,
  request: PatchRequest,
): Promise<WriteResult> {
  const {resource} = target.store
  const kind = kindOf(request.contentType)
  if (resource.custom === true && (kind === undefined || kind === 'strategic'))
    throw unsupportedMediaType(CUSTOM_ACCEPTS)
  if (kind === undefined) throw unsupportedMediaType('415: Unsupported Media Type', {})
  requireApplyOptions(request.options, kind === 'apply')
  if (kind === 'apply') return applyPatch(services, target, request)

  const {store, context} = target
  if (store.get(context.namespace, context.name) === undefined)
    throw notFound(resource, context.name)
  const change = readPatch(request.bytes)
  return update(services, target, (read) => {
    const current = read()
    const versioned = {kind: request.kind, apiVersion: target.apiVersion, ...current}
    const value = patched(kind, versioned, change, target)
    // Only a strategic merge never goes through text, so the message shows the patch.
    const shown = kind === 'strategic' ? goText(change) : patchedText(value)
    if (kind !== 'strategic') requireSameKind(value, versioned, shown)
    const object = toTyped(value, target, request, shown)
    request.defaults?.(object)
    resource.strategy.defaults?.(object)
    return {object}
  })
}

const kindOf = (contentType: string): PatchKind | undefined => {
  const [mediaType = ''] = contentType.split(';')
  const key = mediaType.trim().toLowerCase()
  return Object.hasOwn(KINDS, key) ? KINDS[key] : undefined
}

function readPatch(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes, MOST_PATCH_DEPTH).value
  } catch (error) {
    if (error instanceof MalformedError) throw badRequest(`error decoding patch: ${error.message}`)
    throw error
  }
}

function patched(
  kind: Exclude<PatchKind, 'apply'>,
  current: JsonObject,
  change: unknown,
  {shape}: WriteTarget,
): unknown {
  switch (kind) {
    case 'json':
      return applyJsonPatch(current, change)
    case 'merge':
      return applyMergePatch(current, change)
    case 'strategic':
      return applyStrategicMergePatch(current, change, shape)
  }
}

/** Server-side apply; creates a missing object. */
async function applyPatch(
  services: WriteServices,
  target: WriteTarget,
  request: PatchRequest,
): Promise<WriteResult> {
  const {store, context} = target
  const {resource} = store
  const applied = await readApplied(request)
  const next = (live: ApiObject | undefined) => {
    const result = apply({
      ...trackingOf(target),
      kind: request.kind,
      ...(live === undefined ? {} : {live}),
      applied,
      force: request.options.force === true,
    })
    const object = toTyped(result.object, target, request, goText(applied))
    request.defaults?.(object)
    resource.strategy.defaults?.(object)
    return {object, managedFields: result.managedFields}
  }
  const change = () =>
    update(services, target, (read) =>
      next({kind: request.kind, apiVersion: target.apiVersion, ...read()}),
    )
  if (store.get(context.namespace, context.name) !== undefined) return change()
  if (context.subresource !== '') throw notFound(resource, context.name)
  requireCreate(target)
  const {object, managedFields} = next(undefined)
  if ((object.metadata.uid ?? '') !== '')
    throw conflict(
      resource,
      context.name,
      `uid mismatch: the provided object specified uid ${object.metadata.uid ?? ''}, and no existing object was found`,
    )
  try {
    return await create(services, target, object, managedFields ?? [])
  } catch (error) {
    if (!isAlreadyThere(error)) throw error
    // Somebody else has created it in the meantime.
    await catchUp(services.registry)
    return change()
  }
}

async function readApplied({bytes}: PatchRequest): Promise<ApiObject> {
  try {
    const {value} = await parseYaml(bytes, MOST_PATCH_DEPTH)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      const object = value as ApiObject
      object.metadata ??= {}
      return object
    }
    throw badRequest('error decoding YAML: the applied configuration is not an object')
  } catch (error) {
    if (error instanceof MalformedError) throw badRequest(`error decoding YAML: ${error.message}`)
    throw error
  }
}

/** A patched object as the text that Kubernetes decodes, its outermost keys in order. */
const patchedText = (value: unknown): string =>
  JSON.stringify(
    isObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )

const refused = (shown: string, why: string): StatusError =>
  invalid({group: '', kind: ''}, '', [invalidValue('patch', shown, why)])

/** A patch cannot change the kind of an object. As the decoder of Kubernetes' jsonPatcher. */
function requireSameKind(value: unknown, {kind, apiVersion}: JsonObject, shown: string) {
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
function toTyped(
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
