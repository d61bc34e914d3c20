import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {isIssued, isUndecided} from '../../csr/conditions.ts'
import {TrustError, hasCode} from '../../errors.ts'

const MOST_CONFLICTS = 10

export interface DecisionCondition {
  type: 'Approved' | 'Denied'
  reason: string
  message: string
}

/** Nobody has decided on it, nor signed it. */
export const isOpen = (csr: CertificateSigningRequest): boolean =>
  isUndecided(csr) && !isIssued(csr)

/**
 * Writes the decision through `/approval`. What is asked for cannot change, so a request that was changed meanwhile is read
 * again; one that was decided, deleted or made anew is left alone, and then the answer is false.
 */
export async function writeDecision(
  {csrs}: Pick<ApiClient, 'csrs'>,
  seen: CertificateSigningRequest,
  condition: DecisionCondition,
  options: CallOptions = {},
): Promise<boolean> {
  let csr: CertificateSigningRequest | undefined = seen
  for (let attempt = 0; attempt < MOST_CONFLICTS; attempt += 1) {
    if (csr === undefined || csr.metadata.uid !== seen.metadata.uid || !isOpen(csr)) return false
    const conditions = [...(csr.status?.conditions ?? []), {...condition, status: 'True' as const}]
    try {
      await csrs.updateSubresource(
        'approval',
        {...csr, status: {...csr.status, conditions}},
        options,
      )
      return true
    } catch (error) {
      if (hasCode(error, 'NOT_FOUND')) return false
      if (!hasCode(error, 'CONFLICT')) throw error
      csr = await csrs.find(seen.metadata.name ?? '', options)
    }
  }
  throw new TrustError('CONFLICT', 'the request is changed by others all the time')
}
