import type {ManagedFieldsEntry, FieldsV1} from '../../api/meta.ts'
import {compareTexts, isObject} from '../kernel/json-value.ts'
import {type FieldSet, isEmptySet, unionOf, LEAF, node, sortedElements} from './field-set.ts'
import {parseElement, type PathElement} from './path-element.ts'

/** Who owns which fields: an entry of managedFields, its field set decoded. */
export interface Manager {
  manager: string
  operation: 'Apply' | 'Update'
  apiVersion: string
  subresource: string
  time?: string | undefined
  fields: FieldSet
  /** The entry as stored; written back unchanged while `fields` stays the same. */
  stored?: {entry: ManagedFieldsEntry; fields: FieldSet}
}

/** Managers by their identifier. */
export type Managers = Map<string, Manager>

type Identity = Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>

/** Identifies and orders managers. An applier stays the same one whatever version it uses. */
export function managerId({manager, operation, apiVersion, subresource}: Identity): string {
  return JSON.stringify({
    ...(manager === '' ? {} : {manager}),
    operation,
    ...(operation === 'Apply' || apiVersion === '' ? {} : {apiVersion}),
    ...(subresource === '' ? {} : {subresource}),
  })
}

function decodeEntry(entry: ManagedFieldsEntry, stored: boolean): Manager {
  const {manager = '', operation, apiVersion = '', subresource = '', time, fieldsType} = entry
  if (operation !== 'Apply' && operation !== 'Update') {
    throw new SyntaxError('operation must be `Apply` or `Update`')
  }
  if (apiVersion === '') throw new SyntaxError('apiVersion must not be empty')
  if (fieldsType !== 'FieldsV1') throw new SyntaxError('fieldsType must be FieldsV1')
  const fields = decodeFields(entry.fieldsV1)
  return {
    manager,
    operation,
    apiVersion,
    subresource,
    ...(time === undefined ? {} : {time}),
    fields,
    ...(stored ? {stored: {entry, fields}} : {}),
  }
}

/** Throws if an entry is malformed. `stored`: they come from the store, and may be written back unchanged. */
export function decodeManagers(
  entries: readonly ManagedFieldsEntry[],
  {stored}: {stored: boolean},
): Managers {
  const managers = entries.map((entry) => decodeEntry(entry, stored))
  return new Map(managers.map((manager) => [managerId(manager), manager]))
}

function encodeManager(owner: Manager): ManagedFieldsEntry {
  const {manager, operation, apiVersion, subresource, time, fields, stored} = owner
  const unchanged = stored?.fields === fields ? stored.entry : undefined
  if (unchanged !== undefined && unchanged.time === time) return unchanged
  return {
    ...(manager === '' ? {} : {manager}),
    operation,
    apiVersion,
    ...(time === undefined ? {} : {time}),
    fieldsType: 'FieldsV1',
    fieldsV1: unchanged?.fieldsV1 ?? encodeFields(fields),
    ...(subresource === '' ? {} : {subresource}),
  }
}

const seconds = (time: string | undefined) =>
  time === undefined ? 0 : Math.floor(Date.parse(time) / 1000)

/** Appliers first, then by time, manager, version and subresource. */
const inOrder = (left: Manager, right: Manager) =>
  compareTexts(left.operation, right.operation) ||
  seconds(left.time) - seconds(right.time) ||
  compareTexts(left.manager, right.manager) ||
  compareTexts(left.apiVersion, right.apiVersion) ||
  compareTexts(left.subresource, right.subresource)

/** The entries as they are stored; undefined if nobody owns anything. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined
  return [...managers.values()].sort(inOrder).map(encodeManager)
}

/** Sets a manager's fields, and removes a manager that owns none. */
export function setFields(managers: Managers, id: string, owner: Manager, fields: FieldSet): void {
  if (isEmptySet(fields)) managers.delete(id)
  else if (fields !== owner.fields) managers.set(id, {...owner, fields})
}

const MAX_UPDATERS = 10
const ANCIENT_CHANGES = 'ancient-changes'

/** Merges the oldest updaters of one version into one, until no more than ten updaters are left. */
export function capUpdaters(managers: Managers): void {
  const updaters = [...managers].filter(([, {operation}]) => operation === 'Update')
  let count = updaters.length
  if (count <= MAX_UPDATERS) return
  updaters.sort(
    ([leftId, left], [rightId, right]) =>
      seconds(left.time) - seconds(right.time) || compareTexts(leftId, rightId),
  )
  const firstOfVersion = new Map<string, string>()
  const merged = new Map<string, FieldSet[]>()
  for (const [id, {apiVersion, fields, time}] of updaters) {
    if (count <= MAX_UPDATERS) break
    const first = firstOfVersion.get(apiVersion)
    if (first === undefined) {
      firstOfVersion.set(apiVersion, id)
      continue
    }
    const bucket: Identity = {
      manager: ANCIENT_CHANGES,
      operation: 'Update',
      apiVersion,
      subresource: '',
    }
    const bucketId = managerId(bucket)
    const gathered = managers.get(bucketId) ?? managers.get(first)
    if (gathered === undefined) continue
    if (!managers.has(bucketId)) managers.delete(first)
    managers.delete(id)
    managers.set(bucketId, {...bucket, time, fields: gathered.fields})
    const sets = merged.get(bucketId) ?? [gathered.fields]
    sets.push(fields)
    merged.set(bucketId, sets)
    count--
  }
  for (const [id, sets] of merged) {
    const bucket = managers.get(id)
    if (bucket !== undefined) managers.set(id, {...bucket, fields: unionOf(sets)})
  }
}

const SELF = '.'

function decodeNode(fields: unknown): FieldSet {
  if (!isObject(fields)) throw new SyntaxError('a field set is an object')
  let children: Map<PathElement, FieldSet> | undefined
  let self = false
  for (const key in fields) {
    if (key === SELF) {
      self = true
      continue
    }
    const element = parseElement(key)
    if (element === undefined) continue
    children ??= new Map()
    children.set(element, decodeNode(fields[key]))
  }
  return children === undefined ? LEAF : {self, children}
}

/** Reads a field set from its wire form. Throws if it is malformed. */
export function decodeFields(fields: FieldsV1 | undefined): FieldSet {
  const root = decodeNode(fields ?? {})
  return node(false, root.children)
}

function encodeNode(set: FieldSet): FieldsV1 {
  const fields: FieldsV1 = {}
  if (set.self && set.children.size > 0) fields[SELF] = {}
  for (const element of sortedElements(set)) {
    const child = set.children.get(element)
    if (child !== undefined && !isEmptySet(child)) fields[element] = encodeNode(child)
  }
  return fields
}

/** Writes a field set in Kubernetes' order. */
export const encodeFields = (set: FieldSet): FieldsV1 => encodeNode(set)
