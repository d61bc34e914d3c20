import type {ConfigMap} from '../../api/core.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {forbiddenField, invalidValue, tooLong} from '../kernel/field-error.ts'
import {semanticallyEqual, checkWith} from '../validation/values.ts'
import {configKey} from '../validation/names.ts'
import {AGE, column, defineResource, NAME} from './define.ts'

export const MOST_DATA_BYTES = 1024 * 1024

const FROZEN = 'field is immutable when `immutable` is set'

/** What `immutable: true` of the stored object forbids; shared with Secret. */
export function validateFrozen<T extends {immutable?: boolean}>(
  object: T,
  old: T,
  fields: (keyof T & string)[],
): FieldError[] {
  if (old.immutable !== true) return []
  const changed = fields.filter((field) => !semanticallyEqual(object[field], old[field]))
  return [
    ...(object.immutable === true ? [] : [forbiddenField('immutable', FROZEN)]),
    ...changed.map((field) => forbiddenField(field, FROZEN)),
  ]
}

export const base64Size = (text: string) => Buffer.byteLength(text, 'base64')

function validate({data = {}, binaryData = {}}: ConfigMap): FieldError[] {
  const overlap = (key: string) =>
    key in binaryData
      ? [invalidValue(`data[${key}]`, key, `duplicate of key present in binaryData`)]
      : []
  const size =
    Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0) +
    Object.values(binaryData).reduce((sum, text) => sum + base64Size(text), 0)
  return [
    ...Object.keys(data).flatMap((key) => [
      ...checkWith(configKey, `data[${key}]`, key),
      ...overlap(key),
    ]),
    ...Object.keys(binaryData).flatMap((key) => checkWith(configKey, `binaryData[${key}]`, key)),
    ...(size > MOST_DATA_BYTES ? [tooLong('', MOST_DATA_BYTES)] : []),
  ]
}

export const configMaps = defineResource<ConfigMap>({
  plural: 'configmaps',
  type: 'core/v1.ConfigMap',
  shortNames: ['cm'],
  namespaced: true,
  strategy: {
    validate,
    validateUpdate: (object, old) => validateFrozen(object, old, ['data', 'binaryData']),
  },
  columns: [
    NAME,
    column(
      'Data',
      'How many keys it has.',
      ({data = {}, binaryData = {}}) => Object.keys(data).length + Object.keys(binaryData).length,
    ),
    AGE,
  ],
})
