import type {FieldError} from '../kernel/field-error.ts'
import {invalidValue} from '../kernel/field-error.ts'
import {isObject} from '../kernel/json-value.ts'
import {IMMUTABLE} from './text.ts'

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.values(value).every(isNothing))

/** Equal as Kubernetes compares: absent, null and empty are the same. */
export function semanticallyEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isNothing(a) || isNothing(b)) return isNothing(a) && isNothing(b)
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one, index) => semanticallyEqual(one, b[index]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...keys].every((key) => semanticallyEqual(a[key], b[key]))
}

export const immutableField = (field: string, value: unknown, old: unknown): FieldError[] =>
  semanticallyEqual(value, old) ? [] : [invalidValue(field, value, IMMUTABLE)]
