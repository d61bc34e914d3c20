import type {FieldError} from '../kernel/field-error.ts'
import {invalidValue, notSupported, required} from '../kernel/field-error.ts'
import type {Check} from './names.ts'
import {NOT_NEGATIVE, rangeText} from './text.ts'

/** One cause for every reason why the value is wrong. */
export const checkWith = (check: Check, field: string, value: string): FieldError[] =>
  check(value).map((why) => invalidValue(field, value, why))

/** As `checkWith`, but an empty value is missing, not wrong. */
export const requiredWith = (
  check: Check,
  field: string,
  value: string | undefined,
): FieldError[] =>
  value === undefined || value === '' ? [required(field)] : checkWith(check, field, value)

export const notNegative = (field: string, value: number | undefined): FieldError[] =>
  value !== undefined && value < 0 ? [invalidValue(field, value, NOT_NEGATIVE)] : []

export const inRange = (
  field: string,
  value: number | undefined,
  low: number,
  high: number,
): FieldError[] =>
  value !== undefined && (value < low || value > high)
    ? [invalidValue(field, value, rangeText(low, high))]
    : []

/** `supported` in the order in which the text names them. */
export const oneOf = (
  field: string,
  value: string | undefined,
  supported: string[],
): FieldError[] =>
  value !== undefined && !supported.includes(value) ? [notSupported(field, value, supported)] : []
