import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'

/** Whom the server takes the client for; undefined where for nobody. Servers before v1.28 cannot be asked so. */
export async function whoAmI({
  selfSubjectReviews,
}: Pick<ApiClient, 'selfSubjectReviews'>): Promise<string | undefined> {
  try {
    const {status} = await selfSubjectReviews.create({metadata: {}})
    return status?.userInfo?.username
  } catch (error) {
    if (hasCode(error, 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')) return undefined
    throw error
  }
}
