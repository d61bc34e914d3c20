import type {Node} from '../../api/node.ts'
import {NODES, nodeUser} from '../../csr/node-names.ts'
import {KUBELET_SERVING} from '../../csr/signers.ts'
import type {WantedCertificate} from '../../enrollment/request.ts'
import {canonicalIp} from '../../pki/ip-address.ts'
import type {SubjectNames} from '../../pki/subject-names.ts'

const NAMES = ['Hostname', 'InternalDNS', 'ExternalDNS']
const ADDRESSES = ['InternalIP', 'ExternalIP']

/** The names and addresses that a Node has registered, as the kubelet requests them; undefined if it has none. */
export function servingNames({status}: Pick<Node, 'status'>): SubjectNames | undefined {
  const dns = new Set<string>()
  const ips = new Set<string>()
  for (const {type, address} of status?.addresses ?? []) {
    const ip = canonicalIp(address)
    // Some clouds register an address as the host name.
    if (ip !== undefined && [...NAMES, ...ADDRESSES].includes(type)) ips.add(ip)
    else if (NAMES.includes(type)) dns.add(address.toLowerCase())
  }
  if (dns.size + ips.size === 0) return undefined
  return {dns: [...dns], ips: [...ips], emails: [], uris: []}
}

/** What a node requests to serve others, as the kubelet does. */
export const servingCertificate = (node: string, names: SubjectNames): WantedCertificate => ({
  subject: {commonName: nodeUser(node), organizations: [NODES]},
  names,
  signer: KUBELET_SERVING,
  usages: ['digital signature', 'server auth'],
})
