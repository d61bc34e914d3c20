import type {
  SubjectAccessReview,
  SelectorAttributes,
  SelectorRequirement,
} from '../../api/authorization.ts'
import type {Received, UserInfo} from '../../api/meta.ts'
import {type FieldError, invalidValue, required} from '../kernel/field-error.ts'
import type {AccessAttributes, OperationContext} from '../kernel/resource.ts'
import {invalid} from '../kernel/status.ts'

export const AUTHORIZATION_GROUP = 'authorization.k8s.io'

/** The spec of a review: the self form has no user. */
export type AccessReview = Received<SubjectAccessReview>

export function validateAttributes({spec = {}}: AccessReview): FieldError[] {
  const {resourceAttributes: resource, nonResourceAttributes: path} = spec
  if (resource && path) {
    const why = 'cannot be specified in combination with resourceAttributes'
    const value = {Path: path.path ?? '', Verb: path.verb ?? ''}
    return [invalidValue('spec.nonResourceAttributes', value, why)]
  }
  if (!resource && !path) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
    return [invalidValue('spec.resourceAttributes', null, why)]
  }
  return resource ? validateSelectorAttributes(resource) : []
}

export function validateSubject({spec = {}}: AccessReview): FieldError[] {
  if (spec.user || spec.groups?.length) return []
  const why = 'at least one of user or group must be specified'
  return [invalidValue('spec.user', spec.user ?? '', why)]
}

/** Reviews have no name or namespace of their own. */
export function validateEmptyMetadata({metadata}: AccessReview, except: string[]): FieldError[] {
  const {managedFields: _, ...rest} = metadata
  const set = Object.entries(rest).filter(
    ([name, value]) => !except.includes(name) && value !== null && value !== undefined,
  )
  if (set.length === 0) return []
  const why = except.length === 0 ? 'must be empty' : `must be empty except for ${except.join()}`
  return [invalidValue('metadata', rest, why)]
}

/** On a real server the kind of such a response is empty too. */
export function refuseInvalid(errors: FieldError[]): void {
  if (errors.length > 0) throw invalid({group: AUTHORIZATION_GROUP, kind: ''}, '', errors)
}

function attributesOf({spec = {}}: AccessReview): AccessAttributes {
  const {resourceAttributes: asked, nonResourceAttributes: path} = spec
  if (asked === undefined) return {verb: path?.verb ?? '', path: path?.path ?? ''}
  const fieldSelector = fieldSelectorText(asked.fieldSelector)
  const labelSelector = asked.labelSelector?.rawSelector
  return {
    verb: asked.verb ?? '',
    resource: {
      group: asked.group ?? '',
      version: asked.version ?? '',
      resource: asked.resource ?? '',
      subresource: asked.subresource ?? '',
      namespace: asked.namespace ?? '',
      name: asked.name ?? '',
      ...(fieldSelector === undefined ? {} : {fieldSelector}),
      ...(labelSelector === undefined ? {} : {labelSelector}),
    },
  }
}

/** Groups are used as they are: nothing is added to those in the review. */
export const subjectOf = ({spec = {}}: AccessReview): UserInfo => ({
  username: spec.user ?? '',
  groups: spec.groups ?? [],
  ...(spec.uid ? {uid: spec.uid} : {}),
  ...(spec.extra ? {extra: spec.extra} : {}),
})

export function answer<T extends AccessReview>(
  review: T,
  user: UserInfo,
  {authorize}: OperationContext,
): T {
  const {allowed, reason, evaluationError} = authorize(user, attributesOf(review))
  review.status = {
    allowed,
    ...(reason === '' ? {} : {reason}),
    ...(evaluationError ? {evaluationError} : {}),
  }
  return review
}

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
function fieldSelectorText(selector: SelectorAttributes | undefined): string | undefined {
  const {rawSelector, requirements} = selector ?? {}
  if (rawSelector !== undefined && rawSelector !== '') return rawSelector
  const terms = requirements?.flatMap((requirement) => termOf(requirement) ?? [])
  return terms === undefined || terms.length === 0 ? undefined : terms.join(',')
}

/** The selectors that a review may narrow its question by. */
const validateSelectorAttributes = (attributes: {
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
