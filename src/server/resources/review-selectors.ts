import type {SelectorAttributes, SelectorRequirement} from '../../api/authorization.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {invalidValue, required} from '../kernel/field-error.ts'

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist']

function validateSelector(selector: SelectorAttributes, field: string): FieldError[] {
  const {rawSelector = '', requirements = []} = selector
  if (rawSelector !== '' && requirements.length > 0) {
    const why = 'may not specified at the same time as requirements'
    return [invalidValue(`${field}.rawSelector`, rawSelector, why)]
  }
  if (rawSelector === '' && requirements.length === 0) {
    const why =
      'when field selector attributes are specified, requirements or rawSelector is required'
    return [required(`${field}.requirements`, why)]
  }
  return requirements.flatMap(({key = '', operator = ''}, index) => [
    ...(key === '' ? [required(`${field}.requirements[${index}].key`, 'must be specified')] : []),
    ...(OPERATORS.includes(operator)
      ? []
      : [
          invalidValue(
            `${field}.requirements[${index}].operator`,
            operator,
            'not a valid selector operator',
          ),
        ]),
  ])
}

/** One requirement as part of a fieldSelector parameter; undefined if it cannot be expressed there. */
function termOf({key = '', operator = '', values = []}: SelectorRequirement): string | undefined {
  const [value = '', ...others] = values
  const sign = operator === 'In' ? '=' : operator === 'NotIn' ? '!=' : undefined
  if (sign === undefined || values.length === 0 || others.length > 0) return undefined
  return /[,=!]/.test(key + value) ? undefined : `${key}${sign}${value}`
}

/** A review's field selector as a request would carry it. */
export function fieldSelectorText(selector: SelectorAttributes | undefined): string | undefined {
  const {rawSelector, requirements} = selector ?? {}
  if (rawSelector !== undefined && rawSelector !== '') return rawSelector
  const terms = requirements?.flatMap((requirement) => termOf(requirement) ?? [])
  return terms === undefined || terms.length === 0 ? undefined : terms.join(',')
}

/** The selectors that a review may narrow its question by. */
export const validateSelectorAttributes = (attributes: {
  fieldSelector?: SelectorAttributes
  labelSelector?: SelectorAttributes
}): FieldError[] => {
  const {fieldSelector, labelSelector} = attributes
  const field = 'spec.resourceAttributes'
  return [
    ...(fieldSelector ? validateSelector(fieldSelector, `${field}.fieldSelector`) : []),
    ...(labelSelector ? validateSelector(labelSelector, `${field}.labelSelector`) : []),
  ]
}
