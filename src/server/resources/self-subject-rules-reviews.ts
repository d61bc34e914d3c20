import type {SelfSubjectRulesReview} from '../../api/authorization.ts'
import type {Received} from '../../api/meta.ts'
import type {Resource} from '../kernel/resource.ts'
import type {ServerServices} from '../kernel/services.ts'
import {badRequest} from '../kernel/status.ts'
import {AUTHORIZATION_GROUP} from './access-reviews.ts'
import {defineResource} from './define.ts'

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
