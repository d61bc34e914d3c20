import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {TrustError, hasCode} from '../../errors.ts'

type Csr = CertificateSigningRequest

const MOST_CONFLICTS = 10

/**
 * Writes what became of a request. What is asked for cannot change, so a request that was changed meanwhile is read again; one
 * that is not `open` any more, was deleted or made anew is left alone, and then the answer is false.
 */
export async function writeOutcome(
  {csrs}: Pick<ApiClient, 'csrs'>,
  seen: Csr,
  {isOpen, write}: {isOpen: (csr: Csr) => boolean; write: (csr: Csr) => Promise<unknown>},
  options: CallOptions = {},
): Promise<boolean> {
  let csr: Csr | undefined = seen
  for (let attempt = 0; attempt < MOST_CONFLICTS; attempt += 1) {
    if (csr === undefined || csr.metadata.uid !== seen.metadata.uid || !isOpen(csr)) return false
    try {
      await write(csr)
      return true
    } catch (error) {
      if (hasCode(error, 'NOT_FOUND')) return false
      if (!hasCode(error, 'CONFLICT')) throw error
      csr = await csrs.find(seen.metadata.name ?? '', options)
    }
  }
  throw new TrustError('CONFLICT', 'the request is changed by others all the time')
}
