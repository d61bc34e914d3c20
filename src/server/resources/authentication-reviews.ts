import type {SelfSubjectReview, TokenReview} from '../../api/authentication.ts'
import type {Received, UserInfo} from '../../api/meta.ts'
import type {Resource} from '../kernel/resource.ts'
import type {ServerServices} from '../kernel/services.ts'
import {badRequest} from '../kernel/status.ts'
import {defineResource} from './define.ts'
import {formatTimestamp} from '../../runtime.ts'

/** Empty parts of an identity are left out. */
const shownUser = ({username, uid, groups, extra}: UserInfo): Partial<UserInfo> => ({
  ...(username === '' ? {} : {username}),
  ...(uid ? {uid} : {}),
  ...(groups.length === 0 ? {} : {groups}),
  ...(extra && Object.keys(extra).length > 0 ? {extra} : {}),
})

/** Without services the row is only data. */
export const tokenReviews = (services?: ServerServices): Resource =>
  defineResource<Received<TokenReview>>({
    plural: 'tokenreviews',
    type: 'authentication/v1.TokenReview',
    namespaced: false,
    verbs: ['create'],
    strategy: {},
    ...(services === undefined
      ? {}
      : {
          review: async (review) => {
            const {token = '', audiences = []} = review.spec ?? {}
            if (token === '')
              throw badRequest('token is required for TokenReview in authentication')
            const verdict = await services.reviewToken(token, audiences)
            review.status = verdict.authenticated
              ? {
                  authenticated: true,
                  user: shownUser(verdict.user),
                  ...(verdict.audiences.length === 0 ? {} : {audiences: verdict.audiences}),
                }
              : {user: {}, error: verdict.error}
            return review
          },
        }),
  })

export const selfSubjectReviews = defineResource<SelfSubjectReview>({
  plural: 'selfsubjectreviews',
  type: 'authentication/v1.SelfSubjectReview',
  namespaced: false,
  verbs: ['create'],
  strategy: {},
  review: (review, {user, clock}) => {
    review.metadata = {...review.metadata, creationTimestamp: formatTimestamp(clock.now())}
    review.status = {userInfo: shownUser(user)}
    return review
  },
})
