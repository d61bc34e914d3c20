import type {SelfSubjectRulesReview} from '../../api/authorization.ts'
import type {Received} from '../../api/meta.ts'
import {type FieldError, invalidValue} from '../kernel/field-error.ts'
import type {Resource} from '../kernel/resource.ts'
import type {ServerServices} from '../kernel/services.ts'
import {badRequest} from '../kernel/status.ts'
import {
  type AccessReview,
  answer,
  AUTHORIZATION_GROUP,
  refuseInvalid,
  subjectOf,
  validateAttributes,
  validateEmptyMetadata,
  validateSubject,
} from './access-reviews.ts'
import {defineResource} from './define.ts'

const common = {
  group: AUTHORIZATION_GROUP,
  version: 'v1',
  verbs: ['create' as const],
  strategy: {},
}

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
  singular: 'subjectaccessreview',
  kind: 'SubjectAccessReview',
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
  singular: 'localsubjectaccessreview',
  kind: 'LocalSubjectAccessReview',
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
  singular: 'selfsubjectaccessreview',
  kind: 'SelfSubjectAccessReview',
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
    group: AUTHORIZATION_GROUP,
    version: 'v1',
    plural: 'selfsubjectrulesreviews',
    singular: 'selfsubjectrulesreview',
    kind: 'SelfSubjectRulesReview',
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
