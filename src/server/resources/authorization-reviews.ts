import type {
  SelectorAttributes,
  SelectorRequirement,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from '../../api/authorization.ts'
import type {Received, UserInfo} from '../../api/meta.ts'
import {type FieldError, invalidValue, required} from '../kernel/field-error.ts'
import type {AccessAttributes, OperationContext, Resource} from '../kernel/resource.ts'
import type {ServerServices} from '../kernel/services.ts'
import {badRequest, invalid} from '../kernel/status.ts'
import {defineResource} from './define.ts'

/** The spec of a review: the self form has no user. */
type AccessReview = Received<SubjectAccessReview>

function validateAttributes({spec = {}}: AccessReview): FieldError[] {
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

function validateSubject({spec = {}}: AccessReview): FieldError[] {
  if (spec.user || spec.groups?.length) return []
  const why = 'at least one of user or group must be specified'
  return [invalidValue('spec.user', spec.user ?? '', why)]
}

/** Reviews have no name or namespace of their own. */
function validateEmptyMetadata({metadata}: AccessReview, except: string[]): FieldError[] {
  const {managedFields: _, ...rest} = metadata
  const set = Object.entries(rest).filter(
    ([name, value]) => !except.includes(name) && value !== null && value !== undefined,
  )
  if (set.length === 0) return []
  const why = except.length === 0 ? 'must be empty' : `must be empty except for ${except.join()}`
  return [invalidValue('metadata', rest, why)]
}

/** On a real server the kind of such a response is empty too. */
function refuseInvalid(errors: FieldError[]): void {
  if (errors.length > 0) throw invalid({group: 'authorization.k8s.io', kind: ''}, '', errors)
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
const subjectOf = ({spec = {}}: AccessReview): UserInfo => ({
  username: spec.user ?? '',
  groups: spec.groups ?? [],
  ...(spec.uid ? {uid: spec.uid} : {}),
  ...(spec.extra ? {extra: spec.extra} : {}),
})

function answer<T extends AccessReview>(
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

const common = {verbs: ['create' as const], strategy: {}}

function validateLocal({metadata, spec = {}}: AccessReview): FieldError[] {
  const {resourceAttributes: resource, nonResourceAttributes: path} = spec
  const errors: FieldError[] = []
  if (resource && (resource.namespace ?? '') !== (metadata.namespace ?? '')) {
    errors.push(
      invalidValue(
        'spec.resourceAttributes.namespace',
        resource.namespace ?? '',
        'must match metadata.namespace',
      ),
    )
  }
  if (path) {
    const why = 'disallowed on this kind of request'
    errors.push(invalidValue('spec.nonResourceAttributes', path, why))
  }
  return errors
}

export const subjectAccessReviews = defineResource<AccessReview>({
  ...common,
  plural: 'subjectaccessreviews',
  type: 'authorization/v1.SubjectAccessReview',
  namespaced: false,
  review: (review, context) => {
    refuseInvalid([
      ...validateAttributes(review),
      ...validateSubject(review),
      ...validateEmptyMetadata(review, []),
    ])
    return answer(review, subjectOf(review), context)
  },
})

export const localSubjectAccessReviews = defineResource<AccessReview>({
  ...common,
  plural: 'localsubjectaccessreviews',
  type: 'authorization/v1.LocalSubjectAccessReview',
  namespaced: true,
  review: (review, context) => {
    review.metadata.namespace ??= context.namespace
    refuseInvalid([
      ...validateAttributes(review),
      ...validateSubject(review),
      ...validateEmptyMetadata(review, ['namespace']),
      ...validateLocal(review),
    ])
    return answer(review, subjectOf(review), context)
  },
})

export const selfSubjectAccessReviews = defineResource<AccessReview>({
  ...common,
  plural: 'selfsubjectaccessreviews',
  type: 'authorization/v1.SelfSubjectAccessReview',
  namespaced: false,
  review: (review, context) => {
    refuseInvalid([...validateAttributes(review), ...validateEmptyMetadata(review, [])])
    return answer(review, context.user, context)
  },
})

/** Without services the row is only data. */
export const selfSubjectRulesReviews = (services?: ServerServices): Resource =>
  defineResource<Received<SelfSubjectRulesReview>>({
    plural: 'selfsubjectrulesreviews',
    type: 'authorization/v1.SelfSubjectRulesReview',
    namespaced: false,
    verbs: ['create'],
    strategy: {},
    ...(services === undefined
      ? {}
      : {
          review: (review, {user}) => {
            const namespace = review.spec?.namespace ?? ''
            if (namespace === '') throw badRequest('no namespace on request')
            review.status = services.rulesFor(user, namespace)
            return review
          },
        }),
  })
