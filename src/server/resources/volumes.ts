import type {FieldError} from '../kernel/field-error.ts'
import {forbiddenField, invalidValue} from '../kernel/field-error.ts'
import {dnsSubdomain} from '../validation/names.ts'
import {QUANTITY_PATTERN_TEXT, compareQuantities, parseQuantity} from '../validation/quantity.ts'
import {checkWith, oneOf} from '../validation/values.ts'

/** What PersistentVolume and PersistentVolumeClaim share. */

const SHORT_MODES: [mode: string, short: string][] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

const SUPPORTED_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']

export const accessModesText = (modes: string[] | undefined) =>
  SHORT_MODES.filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',')

export function validateAccessModes(modes: string[], field: string): FieldError[] {
  const errors = modes.flatMap((mode) => oneOf(field, mode, SUPPORTED_MODES))
  if (modes.includes('ReadWriteOncePod') && modes.length > 1) {
    const why = 'may not use ReadWriteOncePod with other access modes'
    errors.push(forbiddenField(field, why))
  }
  return errors
}

export const validateStorageClass = (name: string | undefined): FieldError[] =>
  name ? checkWith(dnsSubdomain, 'spec.storageClassName', name) : []

export const validateVolumeMode = (mode: string | undefined): FieldError[] =>
  oneOf('spec.volumeMode', mode, ['Block', 'Filesystem'])

export function validateAmount(amount: string | number, field: string): FieldError[] {
  if (parseQuantity(amount) === undefined) {
    return [invalidValue(field, amount, QUANTITY_PATTERN_TEXT)]
  }
  return compareQuantities(amount, 0) > 0
    ? []
    : [invalidValue(field, amount, 'must be greater than zero')]
}

const STORAGE_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'

/** The annotation is older than the field, and still takes precedence. */
export const storageClassOf = (object: {
  metadata: {annotations?: Record<string, string>}
  spec?: {storageClassName?: string}
}) => object.metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? object.spec?.storageClassName ?? ''
