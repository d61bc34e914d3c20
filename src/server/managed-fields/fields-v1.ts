import type {FieldsV1} from '../../api/meta.ts'
import {isObject} from '../kernel/json-value.ts'
import {type FieldSet, isEmptySet, LEAF, node, sortedElements} from './field-set.ts'
import {parseElement, type PathElement} from './path-element.ts'

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
