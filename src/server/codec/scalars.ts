import type {FieldSchema} from '../../api/schema/index.ts'
import {jsonKind} from '../kernel/json-value.ts'
import {QUANTITY_PATTERN_TEXT, canonicalQuantity, parseQuantity} from '../validation/quantity.ts'
import {MalformedError} from './decode-error.ts'
import {normalizeMicroTime, normalizeTime} from './go-time.ts'

const INT32_MAX = 2 ** 31 - 1
const INT64_LIMIT = 2 ** 63

/** Refuses a value that is not of the field's type; `found` is Go's word for what it is. */
export type Refuse = (found: string) => never

/** Reads one JSON value of a scalar type and returns it as Go would write it. */
export function convertScalar(field: FieldSchema, value: unknown, refuse: Refuse): unknown {
  switch (field.type) {
    case 'string':
      return typeof value === 'string' ? value : refuse(jsonKind(value))
    case 'bool':
      return typeof value === 'boolean' ? value : refuse(jsonKind(value))
    case 'int32':
      return integer(value, INT32_MAX, refuse)
    case 'int64':
      return integer(value, INT64_LIMIT, refuse)
    case 'double':
      return typeof value === 'number' ? value : refuse(jsonKind(value))
    case 'bytes':
      return typeof value === 'string' ? normalizeBase64(value) : refuse(jsonKind(value))
    case 'Time':
      return normalizeTime(asGoValue(value))
    case 'MicroTime':
      return normalizeMicroTime(asGoValue(value))
    case 'Quantity':
      return quantity(value)
    case 'IntOrString':
      return typeof value === 'string' ? value : intValue(value)
    case 'ExtraValue':
      return stringList(value, refuse)
    default:
      throw new TypeError(`${field.type} is not a scalar type`)
  }
}

/** What Go writes for a value that was never set. */
export function zeroScalar(type: string): unknown {
  switch (type) {
    case 'string':
      return ''
    case 'bool':
      return false
    case 'int32':
    case 'int64':
    case 'double':
    case 'IntOrString':
      return 0
    case 'Quantity':
      return '0'
    default:
      return null
  }
}

/** Dropped by omitempty. */
export const isZero = (value: unknown) => value === '' || value === 0 || value === false

function integer(value: unknown, most: number, refuse: Refuse): number {
  if (typeof value !== 'number') return refuse(jsonKind(value))
  const fits = Number.isInteger(value) && value <= most && value >= -most - 1
  return fits ? value : refuse(`number ${value}`)
}

/** Go's types with their own decoder do not know the name of their field. */
function asGoValue(value: unknown): string {
  if (typeof value === 'string') return value
  throw new MalformedError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type string`)
}

function intValue(value: unknown): number {
  return integer(value, INT32_MAX, (found) => {
    throw new MalformedError(`json: cannot unmarshal ${found} into Go value of type int32`)
  })
}

function quantity(value: unknown): string {
  const isText = typeof value === 'string' || typeof value === 'number'
  if (isText && parseQuantity(value) !== undefined) return canonicalQuantity(value)
  throw new MalformedError(QUANTITY_PATTERN_TEXT)
}

function stringList(value: unknown, refuse: Refuse): string[] {
  if (!Array.isArray(value)) return refuse(jsonKind(value))
  return value.map((item: unknown) => (typeof item === 'string' ? item : refuse(jsonKind(item))))
}

const ALPHABET = /[A-Za-z0-9+/]/

/** Standard base64 as Go would write it back; refuses what Go's decoder refuses, at the same byte. */
export function normalizeBase64(text: string): string {
  const again = Buffer.from(text, 'base64').toString('base64')
  // The usual case: no need to check each character.
  if (again === text) return text
  const fault = base64Fault(text)
  if (fault !== undefined) throw new MalformedError(`illegal base64 data at input byte ${fault}`)
  return again
}

/** Where Go's decoder stops; line breaks are skipped as it skips them. */
function base64Fault(text: string): number | undefined {
  const isBreak = (at: number) => text[at] === '\n' || text[at] === '\r'
  let filled = 0
  for (let at = 0; at < text.length; at += 1) {
    if (isBreak(at)) continue
    if (text[at] === '=') return paddingFault(text, at, filled)
    if (!ALPHABET.test(text[at] ?? '')) return at
    filled = (filled + 1) % 4
  }
  return filled === 0 ? undefined : text.length - filled
}

function paddingFault(text: string, at: number, filled: number): number | undefined {
  if (filled < 2) return at
  const afterBreaks = (from: number) => {
    let next = from
    while (text[next] === '\n' || text[next] === '\r') next += 1
    return next
  }
  let next = afterBreaks(at + 1)
  if (filled === 2) {
    if (next >= text.length) return text.length
    if (text[next] !== '=') return next - 1
    next = afterBreaks(next + 1)
  }
  return next < text.length ? next : undefined
}
