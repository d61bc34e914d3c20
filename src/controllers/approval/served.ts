import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {hasCode} from '../../errors.ts'

/**
 * Whether a failure is for want of a whole API, named by its group and version. A server says "forbidden" also of what it does
 * not have; who may not read what is there must not go on as if there were nothing.
 */
export async function isNotServed(
  {raw}: Pick<ApiClient, 'raw'>,
  groupVersion: string,
  error: unknown,
  options: CallOptions,
): Promise<boolean> {
  if (hasCode(error, 'NOT_FOUND')) return true
  if (!hasCode(error, 'FORBIDDEN')) return false
  try {
    await raw(`/apis/${groupVersion}`, options)
    return false
  } catch (answer) {
    return hasCode(answer, 'NOT_FOUND')
  }
}
