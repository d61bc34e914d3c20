import {abbreviatedJson} from './abbreviate.ts'

/** What is wrong with one field, as a cause of an Invalid status. */
export interface FieldError {
  field: string
  reason: string
  /**
   * The text after the field's name. A text with a value is built only when it is read, because of many errors only the
   * first are shown.
   */
  readonly message: string
}

/** Enough for a certificate request. Limited because many errors may show the same long list. */
const MOST_SHOWN = 2048

const shown = (value: unknown) => abbreviatedJson(value, MOST_SHOWN)

const withDetail = (text: string, detail: string) => (detail === '' ? text : `${text}: ${detail}`)

export const required = (field: string, detail = ''): FieldError => ({
  field,
  reason: 'FieldValueRequired',
  message: withDetail('Required value', detail),
})

export const invalidValue = (field: string, value: unknown, detail: string): FieldError => ({
  field,
  reason: 'FieldValueInvalid',
  get message() {
    return withDetail(`Invalid value: ${shown(value)}`, detail)
  },
})

export const notSupported = (field: string, value: unknown, supported: string[]): FieldError => ({
  field,
  reason: 'FieldValueNotSupported',
  get message() {
    const names = supported.map((one) => JSON.stringify(one)).join(', ')
    return `Unsupported value: ${shown(value)}: supported values: ${names}`
  },
})

export const duplicate = (field: string, value: unknown, detail = ''): FieldError => ({
  field,
  reason: 'FieldValueDuplicate',
  get message() {
    return withDetail(`Duplicate value: ${shown(value)}`, detail)
  },
})

export const forbiddenField = (field: string, detail: string): FieldError => ({
  field,
  reason: 'FieldValueForbidden',
  message: withDetail('Forbidden', detail),
})

export const tooLong = (field: string, bytes: number): FieldError => ({
  field,
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${bytes} bytes`,
})

export const tooMany = (field: string, count: number, most: number): FieldError => ({
  field,
  reason: 'FieldValueTooMany',
  message: `Too many: ${count}: must have at most ${most} items`,
})
