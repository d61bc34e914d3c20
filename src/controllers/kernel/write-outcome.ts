import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {isOpen} from '../../csr/conditions.ts'
import {TrustError, hasCode} from '../../errors.ts'

type Csr = CertificateSigningRequest

const MOST_CONFLICTS = 10

/**
 * Writes the outcome of a request. Its spec cannot change, so after a conflict the request is read again and the write
 * repeated. Returns false and writes nothing if the request was deleted or created again, or if the outcome no longer
 * `applies`.
 */
export async function writeOutcome(
  {csrs}: Pick<ApiClient, 'csrs'>,
  seen: Csr,
  {applies, write}: {applies: (csr: Csr) => boolean; write: (csr: Csr) => Promise<unknown>},
  options: CallOptions = {},
): Promise<boolean> {
  let csr: Csr | undefined = seen
  for (let attempt = 0; attempt < MOST_CONFLICTS; attempt += 1) {
    if (csr === undefined || csr.metadata.uid !== seen.metadata.uid || !applies(csr)) return false
    try {
      await write(csr)
      return true
    } catch (error) {
      if (hasCode(error, 'NOT_FOUND')) return false
      if (!hasCode(error, 'CONFLICT')) throw error
      csr = await csrs.find(seen.metadata.name ?? '', options)
    }
  }
  throw new TrustError('CONFLICT', 'others keep changing the request')
}

export interface DecisionCondition {
  type: 'Approved' | 'Denied'
  reason: string
  message: string
}

/** Writes the decision through `/approval`; returns false if there is nothing left to decide. */
export const writeDecision = (
  client: Pick<ApiClient, 'csrs'>,
  seen: Csr,
  condition: DecisionCondition,
  options: CallOptions = {},
): Promise<boolean> =>
  writeOutcome(
    client,
    seen,
    {
      applies: isOpen,
      write: (csr) => {
        const written = {...condition, status: 'True' as const}
        const conditions = [...(csr.status?.conditions ?? []), written]
        const decided = {...csr, status: {...csr.status, conditions}}
        return client.csrs.updateSubresource('approval', decided, options)
      },
    },
    options,
  )
