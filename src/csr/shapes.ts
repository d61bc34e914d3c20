import type {CertificateRequest} from '../pki/request.ts'
import {NODE_PREFIX, NODES} from './node-names.ts'

type Shape = (request: Pick<CertificateRequest, 'subject' | 'names'>, usages: string[]) => boolean

/** Keys that cannot encipher leave that usage out. */
function usagesAre(usages: string[], wanted: string[]): boolean {
  const given = new Set(usages)
  given.delete('key encipherment')
  return given.size === wanted.length && wanted.every((usage) => given.has(usage))
}

const isForNode: Shape = ({subject, names}) =>
  subject.organizations.length === 1 &&
  subject.organizations[0] === NODES &&
  subject.commonName.startsWith(NODE_PREFIX) &&
  names.emails.length === 0 &&
  names.uris.length === 0

/** What a kubelet asks for to be a client: contract §13.2. */
export const isKubeletClient: Shape = (request, usages) =>
  isForNode(request, usages) &&
  request.names.dns.length === 0 &&
  request.names.ips.length === 0 &&
  usagesAre(usages, ['digital signature', 'client auth'])

/** What a kubelet asks for to serve: contract §13.2. */
export const isKubeletServing: Shape = (request, usages) =>
  isForNode(request, usages) &&
  request.names.dns.length + request.names.ips.length > 0 &&
  usagesAre(usages, ['digital signature', 'server auth'])
