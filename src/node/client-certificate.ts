import {createHash} from 'node:crypto'
import {NODES, nodeUser} from '../csr/node-names.ts'
import {KUBELET_CLIENT} from '../csr/signers.ts'
import {hasSubject} from '../enrollment/check.ts'
import {buildRequest, type NamedRequest, type WantedCertificate} from '../enrollment/request.ts'
import type {Certificate} from '../pki/certificate.ts'
import {publicKeyDer, type KeyPair} from '../pki/keys.ts'
import {NO_NAMES} from '../pki/subject-names.ts'

/** What a node requests to be a client of the cluster. ECDSA keys cannot encipher, so that usage is left out, as the kubelet does. */
export const clientCertificate = (node: string): WantedCertificate => ({
  subject: {commonName: nodeUser(node), organizations: [NODES]},
  names: NO_NAMES,
  signer: KUBELET_CLIENT,
  usages: ['digital signature', 'client auth'],
})

/** Whether a client certificate is the node's own. Any other one is a bootstrap credential: good only to ask for the node's own. */
export const isOwnCertificate = (
  certificate: Pick<Certificate, 'subject'>,
  node: string,
): boolean => hasSubject(certificate, clientCertificate(node).subject)

/**
 * The name of a node's first request, computed as the kubelet does. It depends on the key and on what is requested, so that a run
 * after an interruption finds its own request and no other. Each part is encoded, and ends with a character that the encoding lacks.
 */
export function requestName(
  {subject, usages}: Pick<WantedCertificate, 'subject' | 'usages'>,
  publicKey: Uint8Array,
  ...more: string[]
): string {
  const hash = createHash('sha512-256')
  const parts = [publicKey, subject.commonName, ...subject.organizations, ...usages, ...more]
  for (const part of parts) {
    hash.update(`${Buffer.from(part).toString('base64url')}|`)
  }
  return `node-csr-${hash.digest('base64url')}`
}

/** A request without a certificate to authenticate with. `more` makes it another one for the same key. */
export async function clientRequest(
  node: string,
  keys: KeyPair,
  ...more: string[]
): Promise<NamedRequest> {
  const wanted = clientCertificate(node)
  const name = requestName(wanted, publicKeyDer(keys.publicKey), ...more)
  return await buildRequest({name}, wanted, keys)
}
