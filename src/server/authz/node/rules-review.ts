import type {UserInfo} from '../../../api/meta.ts'
import type {SubjectRulesReviewStatus} from '../../../api/authorization.ts'
import {nodeOf} from '../../kernel/users.ts'

const WHY = 'node authorizer does not support user rule resolution'

/** What a node may do depends on its pods, which a list of rules cannot express: the list is marked as incomplete. */
export function rulesOfNodes(
  user: UserInfo,
  rules: SubjectRulesReviewStatus,
): SubjectRulesReviewStatus {
  if (nodeOf(user) === undefined) return rules
  const {evaluationError} = rules
  return {
    ...rules,
    incomplete: true,
    evaluationError: evaluationError === undefined ? WHY : `[${WHY}, ${evaluationError}]`,
  }
}
