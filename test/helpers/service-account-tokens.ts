import type {ApiObject} from '../../src/api/meta.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connectTo} from '../../src/client/connect.ts'
import type {ServerAccess} from '../../src/client/server-access.ts'

interface TokenRequest extends ApiObject {
  status?: {token: string}
}

const ACCOUNT = 'default/default'

/** A new token of the default service account. */
export async function requestToken({serviceAccounts}: ApiClient): Promise<string> {
  const body: TokenRequest = {metadata: {}, spec: {}}
  const answer = await serviceAccounts.createSubresource(ACCOUNT, 'token', body)
  return answer.status?.token ?? ''
}

/** Whether the server knows whom the token belongs to. */
export async function isBelieved(
  access: Pick<ServerAccess, 'server' | 'ca'>,
  token: string,
): Promise<boolean> {
  const bearerToken = () => Promise.resolve(token)
  const robot = connectTo({...access, bearerToken}, {retry: {attempts: 1}})
  try {
    await robot.selfSubjectReviews.create({metadata: {}})
    return true
  } catch {
    return false
  } finally {
    await robot.close()
  }
}
