import {messageOf} from '../../errors.ts'
import {goText, goTypeName} from '../patch/go-text.ts'
import {isObject, type JsonObject} from '../kernel/json-value.ts'
import type {ListShape, Shape} from '../patch/shape.ts'
import {itemElement} from './list-items.ts'
import {elementText, fieldElement} from './path-element.ts'

const NUMBERS = new Set(['int32', 'int64', 'double'])
const ANY_SCALARS = new Set(['Quantity', 'IntOrString'])

function scalarError(type: string, value: unknown): string | undefined {
  if (value === null) return undefined
  const given = typeof value
  if (NUMBERS.has(type)) {
    return given === 'number'
      ? undefined
      : `expected numeric (int or float), got ${goTypeName(value)}`
  }
  if (type === 'bool') {
    return given === 'boolean' ? undefined : `expected boolean, got &{${goText(value)}}`
  }
  if (ANY_SCALARS.has(type)) {
    return given === 'object' ? `expected any scalar, got &{${goText(value)}}` : undefined
  }
  if (type === 'ExtraValue') {
    return Array.isArray(value) ? undefined : `expected list, got &{${goText(value)}}`
  }
  if (given === 'string') return undefined
  return `expected string, got &value.valueUnstructured{Value:${goText(value)}}`
}

function* objectErrors(shape: Shape, object: JsonObject, path: string): Generator<string> {
  for (const key of Object.keys(object)) {
    const where = path + elementText(fieldElement(key))
    if (shape.kind !== 'struct') {
      yield* valueErrors(shape.kind === 'map' ? shape.value : shape, object[key], where)
      continue
    }
    const field = shape.fields.get(key)
    if (field === undefined) {
      yield `${where}: field not declared in schema`
      return
    }
    yield* valueErrors(field.shape, object[key], where)
  }
}

function* listErrors(shape: ListShape, items: unknown[], path: string): Generator<string> {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    if (shape.relation === 'atomic') {
      yield* valueErrors(shape.item, item, `${path}[${index}]`)
      continue
    }
    let element: string
    try {
      element = itemElement(shape, item)
    } catch (error) {
      yield `${path}: element ${index}: ${messageOf(error)}`
      return
    }
    if (seen.has(element)) yield `${path}: duplicate entries for key ${elementText(element)}`
    seen.add(element)
    yield* valueErrors(shape.item, item, path + elementText(element))
  }
}

function* valueErrors(shape: Shape, value: unknown, path: string): Generator<string> {
  if (value === null || value === undefined || shape.kind === 'any') return
  if (shape.kind === 'scalar') {
    const error = scalarError(shape.type, value)
    if (error !== undefined) yield `${path}: ${error}`
  } else if (shape.kind === 'list') {
    if (Array.isArray(value)) yield* listErrors(shape, value, path)
    else yield `${path}: expected list, got &{${goText(value)}}`
  } else if (isObject(value)) {
    yield* objectErrors(shape, value, path)
  } else {
    yield `${path}: expected map, got &{${goText(value)}}`
  }
}

/** Why a configuration does not match its schema, in structured-merge-diff's words; undefined if it does. */
export function validateConfiguration(shape: Shape, value: unknown): string | undefined {
  const errors = [...valueErrors(shape, value, '')]
  if (errors.length <= 1) return errors[0]
  return ['errors:', ...errors.map((error) => `  ${error}`)].join('\n')
}
