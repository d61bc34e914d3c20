import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {isIssued, isUndecided} from '../../csr/conditions.ts'
import {writeOutcome} from '../kernel/write-outcome.ts'

export interface DecisionCondition {
  type: 'Approved' | 'Denied'
  reason: string
  message: string
}

/** Nobody has decided on it, nor signed it. */
export const isOpen = (csr: CertificateSigningRequest): boolean =>
  isUndecided(csr) && !isIssued(csr)

/** Writes the decision through `/approval`; false where there is nothing to decide on any more. */
export const writeDecision = (
  client: Pick<ApiClient, 'csrs'>,
  seen: CertificateSigningRequest,
  condition: DecisionCondition,
  options: CallOptions = {},
): Promise<boolean> =>
  writeOutcome(
    client,
    seen,
    {
      isOpen,
      write: (csr) => {
        const written = {...condition, status: 'True' as const}
        const conditions = [...(csr.status?.conditions ?? []), written]
        const decided = {...csr, status: {...csr.status, conditions}}
        return client.csrs.updateSubresource('approval', decided, options)
      },
    },
    options,
  )
