import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import {clientRequest} from '../../src/node/client-certificate.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import type {Identity} from '../attack.ts'

export const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

let requests = 0

/** A good request of a fresh key, under a name that nobody used before. */
export async function requestFor(
  node: string,
): Promise<CertificateSigningRequest & {metadata: {name: string}}> {
  const request = await clientRequest(node, await generateKeys())
  return {...request, metadata: {name: freshName('csr')}}
}

/** Good everywhere: no two attackers, and no two runs of one, have the same. */
export const freshName = (prefix: string): string =>
  `${prefix}-${process.pid}-${(requests++).toString(36)}`

/** One of several, in turn. */
export function inTurn<T>(items: readonly T[], number: number): T {
  const item = items[number % items.length]
  if (item === undefined) throw new Error('there is nothing to choose from')
  return item
}

export const nodePath = ({name}: Identity): string => `/api/v1/nodes/${name}`

/** `{"k0": value, "k1": value, …}` */
export const many = (count: number, value: string, prefix = 'k'): Record<string, string> =>
  Object.fromEntries(Array.from({length: count}, (_, number) => [`${prefix}${number}`, value]))

export const MERGE = 'application/merge-patch+json'
export const STRATEGIC = 'application/strategic-merge-patch+json'
export const JSON_PATCH = 'application/json-patch+json'
export const APPLY = 'application/apply-patch+yaml'
