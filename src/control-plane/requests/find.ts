import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {printable} from '../../client/printable.ts'
import type {SelectOptions} from '../../client/resource-client.ts'
import {isMissingObject} from '../../client/status-errors.ts'
import {stateOf, type CsrState} from '../../csr/conditions.ts'
import {nameOf} from '../../enrollment/outcome.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'

/** Which requests to select; any entry of each list may match. */
export interface RequestFilter {
  signers?: readonly string[] | undefined
  states?: readonly CsrState[] | undefined
  /** Names of users; `*` stands for any part of one. */
  requesters?: readonly string[] | undefined
  /** Milliseconds. */
  olderThan?: number | undefined
  newerThan?: number | undefined
  labelSelector?: string | undefined
}

type Matcher = (csr: CertificateSigningRequest) => boolean

/** The part of the filter that the server can apply. It supports one signer, not several. */
export function selectOf({signers = [], labelSelector}: RequestFilter): SelectOptions {
  const [signer, ...more] = signers
  return {
    labelSelector,
    ...(signer !== undefined && more.length === 0 && {fieldSelector: `spec.signerName=${signer}`}),
  }
}

function matchesPattern(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return text === pattern
  const last = rest.pop() ?? ''
  if (!text.startsWith(first) || text.length < first.length + last.length) return false
  let from = first.length
  for (const part of rest) {
    const at = text.indexOf(part, from)
    if (at === -1) return false
    from = at + part.length
  }
  return text.endsWith(last) && text.length - last.length >= from
}

/** The part of the filter that the server cannot apply. */
export function matcherOf(filter: RequestFilter, now: Date): Matcher {
  const {signers, states, requesters, olderThan, newerThan} = filter
  const age = ({metadata}: CertificateSigningRequest) =>
    now.getTime() - Date.parse(metadata.creationTimestamp ?? '')
  const tests: (Matcher | undefined)[] = [
    signers && ((csr) => signers.includes(csr.spec.signerName)),
    states && ((csr) => states.includes(stateOf(csr))),
    requesters &&
      (({spec}) => requesters.some((pattern) => matchesPattern(spec.username ?? '', pattern))),
    olderThan === undefined ? undefined : (csr) => age(csr) > olderThan,
    newerThan === undefined ? undefined : (csr) => age(csr) < newerThan,
  ]
  const given = tests.filter((test) => test !== undefined)
  return (csr) => given.every((test) => test(csr))
}

export async function getRequest(
  {csrs}: Pick<ApiClient, 'csrs'>,
  name: string,
): Promise<CertificateSigningRequest> {
  try {
    return await csrs.get({name})
  } catch (error) {
    if (!isMissingObject(error)) throw error
    throw new TrustError('NOT_FOUND', `there is no certificate request "${printable(name)}"`, {
      cause: error,
      facts: {name},
      hints: ['list them with "trustadm certificate list"'],
    })
  }
}

/** The requests of a cluster that match the filter, oldest first. */
export async function findRequests(
  {csrs}: Pick<ApiClient, 'csrs'>,
  filter: RequestFilter,
  clock: Clock,
): Promise<CertificateSigningRequest[]> {
  const {items} = await csrs.list(selectOf(filter))
  return items.filter(matcherOf(filter, clock.now())).sort(byAge)
}

const createdAt = ({metadata}: CertificateSigningRequest): string =>
  metadata.creationTimestamp ?? ''

/** Kubernetes' times all have the same format, so that they can be sorted as strings. */
function byAge(one: CertificateSigningRequest, other: CertificateSigningRequest): number {
  const [left, right] = [createdAt(one), createdAt(other)]
  if (left !== right) return left < right ? -1 : 1
  return nameOf(one) < nameOf(other) ? -1 : 1
}
