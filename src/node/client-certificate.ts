import {createHash} from 'node:crypto'
import {NODES, nodeUser} from '../csr/node-names.ts'
import {KUBELET_CLIENT} from '../csr/signers.ts'
import {buildRequest, type NamedRequest, type WantedCertificate} from '../enrollment/request.ts'
import {publicKeyDer, type KeyPair} from '../pki/keys.ts'
import {NO_NAMES} from '../pki/subject-names.ts'

/** What a node requests to be a client of the cluster. ECDSA keys cannot encipher, so that usage is left out, as the kubelet does. */
export const clientCertificate = (node: string): WantedCertificate => ({
  subject: {commonName: nodeUser(node), organizations: [NODES]},
  names: NO_NAMES,
  signer: KUBELET_CLIENT,
  usages: ['digital signature', 'client auth'],
})

/**
 * The name of a node's first request, computed as the kubelet does. It depends on the key and on what is requested, so that a run
 * after an interruption finds its own request and no other. Each part is encoded, and ends with a character that the encoding lacks.
 */
export function requestName(
  {subject, usages}: Pick<WantedCertificate, 'subject' | 'usages'>,
  publicKey: Uint8Array,
): string {
  const hash = createHash('sha512-256')
  for (const part of [publicKey, subject.commonName, ...subject.organizations, ...usages]) {
    hash.update(`${Buffer.from(part).toString('base64url')}|`)
  }
  return `node-csr-${hash.digest('base64url')}`
}

export async function clientRequest(node: string, keys: KeyPair): Promise<NamedRequest> {
  const wanted = clientCertificate(node)
  return await buildRequest(requestName(wanted, publicKeyDer(keys.publicKey)), wanted, keys)
}
