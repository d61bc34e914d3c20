import type {ApiObject, ManagedFieldsEntry, ObjectMeta, OwnerReference} from '../../api/meta.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {forbiddenField, invalidValue, required, tooLong, tooMany} from '../kernel/field-error.ts'
import type {Resource} from '../kernel/resource.ts'
import {immutableField, NOT_NEGATIVE, checkWith} from './values.ts'
import {dnsLabel, dnsSubdomainName, labelValue, qualifiedName} from './names.ts'

const ANNOTATIONS_LIMIT = 256 * 1024
const MANAGER_LIMIT = 128
/**
 * Kubernetes limits only the whole object. This limit keeps the memory of a parsed object within a small multiple of its
 * text.
 */
export const MOST_ENTRIES = 1024
const ORPHAN = 'orphan'
const FOREGROUND = 'foregroundDeletion'

export const validateLabels = (
  labels: Record<string, string> | undefined,
  field: string,
): FieldError[] =>
  Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...checkWith(qualifiedName, field, key),
    ...checkWith(labelValue, field, value),
  ])

function validateAnnotations(
  annotations: Record<string, string> | undefined,
  field: string,
): FieldError[] {
  const entries = Object.entries(annotations ?? {})
  const size = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  )
  return [
    ...entries.flatMap(([key]) =>
      qualifiedName(key.toLowerCase()).map((why) => invalidValue(field, key, why)),
    ),
    ...(size > ANNOTATIONS_LIMIT ? [tooLong(field, ANNOTATIONS_LIMIT)] : []),
  ]
}

/** The number of labels and annotations. An object of an older version may have more, but not get more. */
function validateCounts(meta: ObjectMeta, old: ObjectMeta = {}): FieldError[] {
  return (['labels', 'annotations'] as const).flatMap((field) => {
    const count = Object.keys(meta[field] ?? {}).length
    const most = Math.max(MOST_ENTRIES, Object.keys(old[field] ?? {}).length)
    return count > most ? [tooMany(`metadata.${field}`, count, MOST_ENTRIES)] : []
  })
}

function validateOwner(owner: OwnerReference, field: string): FieldError[] {
  const errors: FieldError[] = []
  const empty = 'must not be empty'
  if (owner.apiVersion === '' || owner.apiVersion.endsWith('/')) {
    errors.push(invalidValue(`${field}.apiVersion`, owner.apiVersion, 'version must not be empty'))
  }
  if (owner.kind === '') errors.push(invalidValue(`${field}.kind`, owner.kind, empty))
  if (owner.name === '') errors.push(invalidValue(`${field}.name`, owner.name, empty))
  if (owner.uid === '') errors.push(invalidValue(`${field}.uid`, owner.uid, empty))
  if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
    errors.push(invalidValue(field, owner, '/v1, Kind=Event is disallowed from being an owner'))
  }
  return errors
}

function validateOwners(owners: OwnerReference[] | undefined, field: string): FieldError[] {
  const errors: FieldError[] = []
  let controller = ''
  for (const owner of owners ?? []) {
    errors.push(...validateOwner(owner, field))
    if (owner.controller !== true) continue
    const name = `${owner.kind}/${owner.name}`
    if (controller === '') {
      controller = name
      continue
    }
    const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
    errors.push(invalidValue(field, owners, why))
  }
  return errors
}

function validateFinalizers(finalizers: string[] | undefined, field: string): FieldError[] {
  const names = finalizers ?? []
  const errors = names.flatMap((name) => checkWith(qualifiedName, field, name))
  if (names.includes(ORPHAN) && names.includes(FOREGROUND)) {
    const why = `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`
    errors.push(invalidValue(field, names, why))
  }
  return errors
}

const STANDARD_FINALIZERS = ['kubernetes', ORPHAN, FOREGROUND]

/** A finalizer without a domain is Kubernetes' own; custom kinds may have others. */
export function validateFinalizerDomain(name: string, field: string): FieldError[] {
  if (name.includes('/') || STANDARD_FINALIZERS.includes(name)) return []
  const why = 'name is neither a standard finalizer name nor is it fully qualified'
  return [invalidValue(field, name, why)]
}

export const validateFinalizerDomains = ({metadata}: ApiObject): FieldError[] =>
  (metadata.finalizers ?? []).flatMap((name, index) =>
    validateFinalizerDomain(name, `metadata.finalizers[${index}]`),
  )

function validateManagedFields(entries: ManagedFieldsEntry[] | undefined, path: string) {
  return (entries ?? []).flatMap((entry, index) => {
    const field = `${path}[${index}]`
    const errors: FieldError[] = []
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      const value = entry.operation ?? ''
      errors.push(invalidValue(`${field}.operation`, value, 'must be `Apply` or `Update`'))
    }
    if (entry.fieldsType !== undefined && (entry.fieldsType as string) !== 'FieldsV1') {
      errors.push(invalidValue(`${field}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`'))
    }
    if ((entry.manager ?? '').length > MANAGER_LIMIT) {
      errors.push(tooLong(`${field}.manager`, MANAGER_LIMIT))
    }
    return errors
  })
}

function validateNamespace(meta: ObjectMeta, namespaced: boolean): FieldError[] {
  const namespace = meta.namespace ?? ''
  if (!namespaced) {
    return namespace === ''
      ? []
      : [forbiddenField('metadata.namespace', 'not allowed on this type')]
  }
  return namespace === ''
    ? [required('metadata.namespace')]
    : checkWith(dnsLabel, 'metadata.namespace', namespace)
}

function validateContent(meta: ObjectMeta, old?: ObjectMeta): FieldError[] {
  const counts = validateCounts(meta, old)
  // If there are too many, they are not checked individually.
  if (counts.length > 0) return counts
  return [
    ...validateLabels(meta.labels, 'metadata.labels'),
    ...validateAnnotations(meta.annotations, 'metadata.annotations'),
    ...validateOwners(meta.ownerReferences, 'metadata.ownerReferences'),
    ...validateFinalizers(meta.finalizers, 'metadata.finalizers'),
    ...validateManagedFields(meta.managedFields, 'metadata.managedFields'),
  ]
}

/** Metadata of an object to be created, its name generated already. As Kubernetes' ValidateObjectMeta. */
export function validateObjectMeta(
  resource: Pick<Resource, 'namespaced' | 'validateName'>,
  {metadata: meta}: ApiObject,
): FieldError[] {
  const nameRule = resource.validateName ?? dnsSubdomainName
  const errors: FieldError[] = []
  if (meta.generateName !== undefined && meta.generateName !== '') {
    for (const why of nameRule(meta.generateName, true)) {
      errors.push(invalidValue('metadata.generateName', meta.generateName, why))
    }
  }
  if (meta.name === undefined || meta.name === '') {
    errors.push(required('metadata.name', 'name or generateName is required'))
  } else {
    for (const why of nameRule(meta.name, false)) {
      errors.push(invalidValue('metadata.name', meta.name, why))
    }
  }
  errors.push(...validateNamespace(meta, resource.namespaced))
  if ((meta.generation ?? 0) < 0) {
    errors.push(invalidValue('metadata.generation', meta.generation, NOT_NEGATIVE))
  }
  return [...errors, ...validateContent(meta)]
}

const IMMUTABLE_FIELDS = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

function validateNoNewFinalizers(meta: ObjectMeta, old: ObjectMeta): FieldError[] {
  if (old.deletionTimestamp === undefined) return []
  const before = new Set(old.finalizers)
  const added = (meta.finalizers ?? []).filter((name) => !before.has(name)).sort()
  if (added.length === 0) return []
  const shown = added.map((name) => JSON.stringify(name)).join(', ')
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`
  // Kubernetes checks this for every kind and again in the kind's own rules: clients get both causes.
  return [forbiddenField('metadata.finalizers', why), forbiddenField('metadata.finalizers', why)]
}

/** Metadata of an update, after the stored uid and creation time were filled in. As Kubernetes' ValidateObjectMetaUpdate. */
export function validateObjectMetaUpdate(
  {metadata: meta}: ApiObject,
  {metadata: old}: ApiObject,
): FieldError[] {
  const errors = validateNoNewFinalizers(meta, old)
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(
      invalidValue('metadata.generation', meta.generation ?? 0, 'must not be decremented'),
    )
  }
  for (const name of IMMUTABLE_FIELDS) {
    errors.push(...immutableField(`metadata.${name}`, meta[name], old[name]))
  }
  return [...errors, ...validateContent(meta, old)]
}
