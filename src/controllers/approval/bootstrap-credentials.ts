import type {ConfigMap, Secret} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {
  BOOTSTRAPPER_SECRET,
  bundleAuthorities,
  bundlePlace,
  secretCredential,
  secretText,
} from '../../csr/bootstrapper.ts'
import {certificateCredential} from '../../csr/user-extra.ts'
import {parseCertificate, type Certificate} from '../../pki/certificate.ts'
import {BACKDATE} from '../../pki/lifetimes.ts'
import {verifyChain} from '../../pki/verify.ts'
import {formatTimestamp} from '../../runtime.ts'

/** A credential that is live: the object that it rests on exists. */
export interface BootstrapCredential {
  /** The first digits of what identifies it. */
  id: string
  kind: 'certificate' | 'token'
  /** The namespace of the node bootstrapper. */
  namespace: string
  /** The object that it rests on. */
  object: string
  /** As the API server names it; null for one that another program made in a way that does not show it. */
  credential: string | null
  created: string | null
  /** Null if it does not expire. */
  expires: string | null
}

const ID_LENGTH = 12
const CERTIFICATE_KEY = /^[0-9a-f]{12}\.crt$/

const shortId = (text: string): string => text.replaceAll('-', '').slice(0, ID_LENGTH)

/** The id of a credential, given its credential-id: the first digits of a fingerprint, or of a token's id. */
export const idOfCredential = (credential: string): string =>
  shortId(credential.slice(credential.indexOf('=') + 1))

/** The key of a credential's certificate in the ConfigMap of its CA. */
export const certificateKey = (id: string): string => `${id}.crt`

/** All these CAs have the same name: the key's id leaves one signature to check. */
const isSignedBy = (leaf: Certificate, authority: Certificate): boolean =>
  leaf.authorityKeyId === authority.subjectKeyId &&
  verifyChain(leaf, {roots: [authority], usage: 'client auth', now: leaf.notBefore}).ok

/** A CA in the ConfigMap, and the certificate that it signed; none if another program made it. */
export interface CredentialAuthority {
  authority: Certificate
  leaf?: Certificate
}

/** The CAs of the ConfigMap, each with its certificate. Throws if the bundle cannot be used. */
export function credentialAuthorities(map: ConfigMap): CredentialAuthority[] {
  const leaves = Object.entries(map.data ?? {})
    .filter(([key]) => CERTIFICATE_KEY.test(key))
    .map(([, pem]) => parseCertificate(pem))
  return bundleAuthorities(map).map((authority) => {
    const leaf = leaves.find((one) => isSignedBy(one, authority))
    return leaf ? {authority, leaf} : {authority}
  })
}

export const certificateId = ({authority, leaf}: CredentialAuthority): string =>
  shortId((leaf ?? authority).fingerprint)

/** Ours are backdated; when another program made its CA is not known better than by its date. */
const createdAt = ({authority, leaf}: CredentialAuthority): Date =>
  leaf ? new Date(leaf.notBefore.getTime() + BACKDATE) : authority.notBefore

function certificateCredentials(map: ConfigMap, namespace: string): BootstrapCredential[] {
  const {namespace: home, name} = bundlePlace(namespace)
  return credentialAuthorities(map).map((found) => {
    const {authority, leaf} = found
    return {
      id: certificateId(found),
      kind: 'certificate',
      namespace,
      object: `ConfigMap ${home}/${name}`,
      credential: leaf ? certificateCredential(leaf.fingerprint) : null,
      created: formatTimestamp(createdAt(found)),
      expires: formatTimestamp((leaf ?? authority).notAfter),
    }
  })
}

function tokenCredentialOf(secret: Secret, namespace: string): BootstrapCredential {
  const {uid = '', creationTimestamp} = secret.metadata
  const credential = secretCredential(secret) ?? null
  return {
    id: credential === null ? shortId(uid) : idOfCredential(credential),
    kind: 'token',
    namespace,
    object: `Secret ${namespace}/${BOOTSTRAPPER_SECRET}`,
    credential,
    created: creationTimestamp ?? null,
    expires: null,
  }
}

/** The credentials of the node bootstrapper in a namespace that are live. */
export async function readCredentials(
  {configMaps, secrets}: Pick<ApiClient, 'configMaps' | 'secrets'>,
  namespace: string,
  options: CallOptions = {},
): Promise<BootstrapCredential[]> {
  const [map, secret] = await Promise.all([
    configMaps.find(bundlePlace(namespace), options),
    secrets.find({namespace, name: BOOTSTRAPPER_SECRET}, options),
  ])
  return [
    ...(map ? certificateCredentials(map, namespace) : []),
    // One that is still empty is no credential yet.
    ...(secret && secretText(secret, 'token') !== '' ? [tokenCredentialOf(secret, namespace)] : []),
  ]
}
