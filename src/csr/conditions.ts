import type {CertificateSigningRequest} from '../api/certificates.ts'

export const APPROVED = 'Approved'
export const DENIED = 'Denied'
export const FAILED = 'Failed'

type Decided = Pick<CertificateSigningRequest, 'status'>
type Condition = NonNullable<NonNullable<Decided['status']>['conditions']>[number]

export const findCondition = ({status}: Decided, type: string): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type)

export const isIssued = ({status}: Decided): boolean => (status?.certificate ?? '') !== ''

/** Nobody has approved or denied it. */
export const isUndecided = (csr: Decided): boolean =>
  findCondition(csr, APPROVED) === undefined && findCondition(csr, DENIED) === undefined

/** Nobody has decided on it, nor signed it. */
export const isOpen = (csr: Decided): boolean => isUndecided(csr) && !isIssued(csr)

/** Whether its signer may sign it: it was approved, and neither denied nor refused by the signer. */
export const isApproved = (csr: Decided): boolean =>
  findCondition(csr, APPROVED) !== undefined &&
  findCondition(csr, DENIED) === undefined &&
  findCondition(csr, FAILED) === undefined

/** Where a request stands, in one word; the last step it took. */
export type CsrState = 'Pending' | 'Approved' | 'Denied' | 'Failed' | 'Issued'

export function stateOf(csr: Decided): CsrState {
  if (isIssued(csr)) return 'Issued'
  return ([DENIED, FAILED, APPROVED] as const).find((type) => findCondition(csr, type)) ?? 'Pending'
}
