import type {LabelSelector, Unchecked} from '../../api/meta.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {forbiddenField, invalidValue, required} from '../kernel/field-error.ts'
import {validateLabels} from './metadata.ts'
import {qualifiedName} from './names.ts'
import {checkWith} from './values.ts'

/** A selector inside an object, as Kubernetes' ValidateLabelSelector. */
export function validateLabelSelector(
  selector: Unchecked<LabelSelector>,
  field: string,
): FieldError[] {
  const expressions = (selector.matchExpressions ?? []).flatMap(
    ({key = '', operator = '', values = []}, index) => {
      const at = `${field}.matchExpressions[${index}]`
      const errors: FieldError[] = []
      if (operator === 'In' || operator === 'NotIn') {
        if (values.length === 0) {
          const why = "must be specified when `operator` is 'In' or 'NotIn'"
          errors.push(required(`${at}.values`, why))
        }
      } else if (operator === 'Exists' || operator === 'DoesNotExist') {
        if (values.length > 0) {
          const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
          errors.push(forbiddenField(`${at}.values`, why))
        }
      } else {
        errors.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'))
      }
      return [...errors, ...checkWith(qualifiedName, `${at}.key`, key)]
    },
  )
  return [...validateLabels(selector.matchLabels, `${field}.matchLabels`), ...expressions]
}
