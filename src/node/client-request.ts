import {createHash} from 'node:crypto'
import type {CertificateSigningRequest} from '../api/certificates.ts'
import {NODES, nodeUser} from '../csr/node-names.ts'
import {KUBELET_CLIENT} from '../csr/signers.ts'
import type {Subject} from '../pki/distinguished-name.ts'
import {publicKeyDer, type KeyPair} from '../pki/keys.ts'
import {createPlainRequest} from '../pki/plain-request.ts'

/** An ECDSA key cannot encipher, so that usage is left out, as the kubelet does. */
export const CLIENT_USAGES = ['digital signature', 'client auth'] as const

export const subjectOf = (node: string): Required<Subject> => ({
  commonName: nodeUser(node),
  organizations: [NODES],
})

/**
 * The name of a node's first request, as the kubelet's: it depends on the key and on what is asked for, so that a run that was
 * killed finds its own request again, and nobody else's. Each part is encoded and ended by a mark that the encoding has not.
 */
export function requestName(
  publicKey: Uint8Array,
  {commonName, organizations}: Required<Subject>,
  usages: readonly string[],
): string {
  const hash = createHash('sha512-256')
  for (const part of [publicKey, commonName, ...organizations, ...usages]) {
    hash.update(`${Buffer.from(part).toString('base64url')}|`)
  }
  return `node-csr-${hash.digest('base64url')}`
}

/** What a node asks for to become a client of the cluster: contract §14.4. */
export async function clientRequest(
  node: string,
  keys: KeyPair,
): Promise<CertificateSigningRequest & {metadata: {name: string}}> {
  const subject = subjectOf(node)
  const pem = await createPlainRequest(subject, keys)
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: {name: requestName(publicKeyDer(keys.publicKey), subject, CLIENT_USAGES)},
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: KUBELET_CLIENT,
      usages: [...CLIENT_USAGES],
    },
  }
}
