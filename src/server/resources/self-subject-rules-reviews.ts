import type {ApiObject} from '../../api/meta.ts'
import type {Resource} from '../kernel/resource.ts'
import type {ServerServices, SubjectRules} from '../kernel/services.ts'
import {badRequest} from '../kernel/status.ts'
import {AUTHORIZATION_GROUP} from './access-reviews.ts'
import {defineResource} from './define.ts'

interface RulesReview extends ApiObject {
  spec?: {namespace?: string}
  status?: SubjectRules
}

/** Without services the row is data only. */
export const selfSubjectRulesReviews = (services?: ServerServices): Resource =>
  defineResource<RulesReview>({
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
