import {createRequest} from '../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'

export interface Asked {
  /** The private key, as PEM. */
  key: string
  manifest: object
}

export interface RequestOptions {
  signerName?: string
  version?: 'v1' | 'v1beta1'
  expirationSeconds?: number
  commonName?: string
  usages?: string[]
}

/** A CertificateSigningRequest for a user, with a key of its own. */
export async function askedFor(
  name: string,
  {version = 'v1', commonName = 'ada', usages = ['client auth'], ...spec}: RequestOptions,
): Promise<Asked> {
  const keys = await generateKeys()
  const subject = {commonName, organizations: ['engineers']}
  const names = {dns: ['ada.test'], ips: ['192.0.2.7'], emails: [], uris: []}
  const request = Buffer.from(await createRequest(subject, keys, names)).toString('base64')
  return {
    key: privateKeyPem(keys.privateKey),
    manifest: {
      apiVersion: `certificates.k8s.io/${version}`,
      kind: 'CertificateSigningRequest',
      metadata: {name},
      spec: {request, usages, ...spec},
    },
  }
}

export const listOf = (...asked: Asked[]): string =>
  JSON.stringify({apiVersion: 'v1', kind: 'List', items: asked.map(({manifest}) => manifest)})
