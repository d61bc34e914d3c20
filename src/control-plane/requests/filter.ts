import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {SelectOptions} from '../../client/resource-client.ts'
import {stateOf, type CsrState} from '../../csr/conditions.ts'

/** Which requests are wanted; of each list, any. */
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

/** What the server can choose by. It takes one signer, not several. */
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

/** What is left for us to choose by. */
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
