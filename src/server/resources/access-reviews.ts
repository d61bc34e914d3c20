import type {SubjectAccessReview} from '../../api/authorization.ts'
import type {Received, UserInfo} from '../../api/meta.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {invalidValue} from '../kernel/field-error.ts'
import type {AccessAttributes, OperationContext} from '../kernel/resource.ts'
import {invalid} from '../kernel/status.ts'
import {fieldSelectorText, validateSelectorAttributes} from './review-selectors.ts'

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
