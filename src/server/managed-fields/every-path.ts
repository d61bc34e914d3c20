import {isObject, type JsonObject} from '../kernel/json-value.ts'
import {type ListShape, readField, type Shape, type StructShape} from '../patch/shape.ts'
import {type FieldSet, LEAF, node} from './field-set.ts'
import {itemsByElement} from './list-items.ts'
import {fieldElement, type PathElement} from './path-element.ts'

function structPaths(shape: StructShape, object: JsonObject): FieldSet {
  const children = new Map<PathElement, FieldSet>()
  for (const field of shape.fields.values()) {
    const value = readField(field, object)
    if (value !== undefined) children.set(fieldElement(field.name), everyPath(field.shape, value))
  }
  return node(true, children)
}

function mapPaths(shape: Shape, object: JsonObject): FieldSet {
  const children = new Map<PathElement, FieldSet>()
  for (const key of Object.keys(object)) {
    children.set(fieldElement(key), everyPath(shape, object[key]))
  }
  return node(true, children)
}

function listPaths(shape: ListShape, items: unknown[]): FieldSet {
  const children = new Map<PathElement, FieldSet>()
  for (const [element, same] of itemsByElement(shape, items)) {
    children.set(element, same.length === 1 ? everyPath(shape.item, same[0]) : LEAF)
  }
  return node(true, children)
}

/** The path of a value that came or went as a whole, and every path below it: what its writer then owns, or nobody does. */
export function everyPath(shape: Shape, value: unknown): FieldSet {
  if (isObject(value)) {
    if (shape.kind === 'struct' && !shape.atomic) return structPaths(shape, value)
    if (shape.kind === 'map' && !shape.atomic) return mapPaths(shape.value, value)
    return shape.kind === 'any' ? mapPaths(shape, value) : LEAF
  }
  const granular = Array.isArray(value) && shape.kind === 'list' && shape.relation !== 'atomic'
  return granular ? listPaths(shape, value) : LEAF
}
