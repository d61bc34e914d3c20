import type {ApiClient} from '../../client/api-client.ts'
import {hasCode} from '../../errors.ts'
import {CERTS_SECRET} from '../shared-certs.ts'

/** Deletes what `init --upload-certs` has shared for two hours: it has the keys of CAs that leave, encrypted. */
export async function deleteUploadedCopies({secrets}: Pick<ApiClient, 'secrets'>): Promise<void> {
  try {
    await secrets.delete(CERTS_SECRET)
  } catch (error) {
    if (!hasCode(error, 'NOT_FOUND')) throw error
  }
}
