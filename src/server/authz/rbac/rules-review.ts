import type {UserInfo} from '../../../api/meta.ts'
import type {SubjectRulesReviewStatus} from '../../../api/authorization.ts'
import type {RbacIndex} from './rbac-index.ts'

/** The status of a SelfSubjectRulesReview: what `kubectl auth can-i --list` shows. */
export function rulesReview(
  index: RbacIndex,
  user: UserInfo,
  namespace: string,
): SubjectRulesReviewStatus {
  const {rules, error} = index.rulesFor(user, namespace)
  return {
    resourceRules: rules.flatMap(({verbs, apiGroups, resources, resourceNames}) =>
      resources === undefined || resources.length === 0
        ? []
        : [
            {
              verbs,
              ...(apiGroups === undefined ? {} : {apiGroups}),
              resources,
              ...(resourceNames === undefined ? {} : {resourceNames}),
            },
          ],
    ),
    nonResourceRules: rules.flatMap(({verbs, nonResourceURLs}) =>
      nonResourceURLs === undefined || nonResourceURLs.length === 0
        ? []
        : [{verbs, nonResourceURLs}],
    ),
    incomplete: false,
    ...(error === undefined ? {} : {evaluationError: error}),
  }
}
