import {isIP} from 'node:net'
import {parseCidr} from '../../pki/address-range.ts'
import {type FieldError, invalidValue, required} from '../kernel/field-error.ts'
import {isObject} from '../kernel/json-value.ts'
import {portName} from './names.ts'

// The sentences that Kubernetes' validators build their messages from.
export const maxLengthText = (length: number, unit = 'characters') =>
  `must be no more than ${length} ${unit}`

export function patternText(rule: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ')
  return `${rule} (${shown === '' ? '' : `e.g. ${shown}`}regex used for validation is '${pattern}')`
}

const IMMUTABLE = 'field is immutable'
export const NOT_NEGATIVE = 'must be greater than or equal to 0'

/** Why a value does not have a format; empty if it does. Texts as in Kubernetes v1.36. */
export type Check = (value: string) => string[]

/** One cause for every reason why the value is invalid. */
export const checkWith = (check: Check, field: string, value: string): FieldError[] =>
  check(value).map((why) => invalidValue(field, value, why))

/** As `checkWith`, but an empty value is reported as missing, not as invalid. */
export const requiredWith = (
  check: Check,
  field: string,
  value: string | undefined,
): FieldError[] =>
  value === undefined || value === '' ? [required(field)] : checkWith(check, field, value)

export const notNegative = (field: string, value: number | undefined): FieldError[] =>
  value !== undefined && value < 0 ? [invalidValue(field, value, NOT_NEGATIVE)] : []

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

export const portNumber = (field: string, value: number): FieldError[] =>
  value < 1 || value > 65_535
    ? [invalidValue(field, value, 'must be between 1 and 65535, inclusive')]
    : []

/** A port by number or by name: probes, a service's targetPort. */
export const portReference = (field: string, value: number | string): FieldError[] =>
  typeof value === 'number' ? portNumber(field, value) : checkWith(portName, field, value)

export const ipAddress = (field: string, value: string): FieldError[] =>
  isIP(value) === 0
    ? [invalidValue(field, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]
    : []

export const cidr = (field: string, value: string): FieldError[] =>
  parseCidr(value) === undefined
    ? [
        invalidValue(
          field,
          value,
          'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        ),
      ]
    : []
