import type {ConfigMap, Secret} from '../api/core.ts'
import {TrustError} from '../errors.ts'
import {parseBundle} from '../pki/bundle.ts'
import {type Certificate, publicKeyOf} from '../pki/certificate.ts'
import {requireStrongKey} from '../pki/key-policy.ts'
import {tokenCredential} from './user-extra.ts'

/** The service account with which a fleet's machines ask for their first certificate, whatever kind of credential they hold. */
export const BOOTSTRAPPER = 'node-bootstrapper'

/** The namespace that it is in by default, and the one that OpenShift keeps it in. */
export const BOOTSTRAPPER_NAMESPACE = 'kube-system'
export const OPENSHIFT_BOOTSTRAPPER_NAMESPACE = 'openshift-machine-config-operator'

/** No others: whoever manages a namespace can create a service account of that name in it. */
export const BOOTSTRAPPER_NAMESPACES: readonly string[] = [
  BOOTSTRAPPER_NAMESPACE,
  OPENSHIFT_BOOTSTRAPPER_NAMESPACE,
]

export const bootstrapperUser = (namespace: string): string =>
  `system:serviceaccount:${namespace}:${BOOTSTRAPPER}`

/** The ClusterRoleBinding that `bootstrap-credential create` makes for it. */
export const bootstrapperBinding = (namespace: string): string =>
  `trustadm:node-bootstrapper:${namespace}`

/** The groups that its credentials have; the server adds `system:authenticated`. */
export const bootstrapperGroups = (namespace: string): string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
]

/** The namespace of the bootstrapper that a user is; undefined for every other user. */
export const bootstrapperNamespaceOf = (username = ''): string | undefined =>
  BOOTSTRAPPER_NAMESPACES.find((namespace) => username === bootstrapperUser(namespace))

/** A Secret with a token of a ServiceAccount. Whoever creates it leaves it empty; a controller fills it. */
export const ACCOUNT_TOKEN_TYPE = 'kubernetes.io/service-account-token'
/** The annotations of such a Secret: the account that it is for. */
export const ACCOUNT_NAME = 'kubernetes.io/service-account.name'
export const ACCOUNT_UID = 'kubernetes.io/service-account.uid'

/** The Secret of the node bootstrapper. */
export const BOOTSTRAPPER_SECRET = `${BOOTSTRAPPER}-token`
/** On the bootstrapper's ServiceAccount: its Secret is created again if somebody deletes it. `bootstrap-credential revoke` removes this. */
export const KEEPS_SECRET = 'trustadm.io/bootstrap-token-secret'

/** An empty Secret for a token of the node bootstrapper. */
export const bootstrapperSecret = (namespace: string): Secret => ({
  metadata: {name: BOOTSTRAPPER_SECRET, namespace, annotations: {[ACCOUNT_NAME]: BOOTSTRAPPER}},
  type: ACCOUNT_TOKEN_TYPE,
})

/** The text under a key of a Secret; empty if it is missing. */
export const secretText = ({data = {}}: Pick<Secret, 'data'>, key: string): string =>
  Buffer.from(data[key] ?? '', 'base64').toString()

const LONGEST_TOKEN = 16 * 1024

/** The credential-id of the token in a Secret; undefined if there is none, or one without an id, as Kubernetes' own controller makes. */
export function secretCredential(secret: Pick<Secret, 'data'>): string | undefined {
  const token = secretText(secret, 'token')
  if (token.length > LONGEST_TOKEN) return undefined
  try {
    const claims: unknown = JSON.parse(
      Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(),
    )
    const {jti} = claims as {jti?: unknown}
    return typeof jti === 'string' ? tokenCredential(jti) : undefined
  } catch {
    return undefined
  }
}

/** The ConfigMap with the CAs of bootstrap credentials. While it names a CA, the API server accepts that CA's certificates; deleting it revokes all of them. */
export const BUNDLE_NAME = 'kubelet-bootstrap-kubeconfig'
/** The key of its CA bundle. */
export const BUNDLE_KEY = 'ca-bundle.crt'

/** Where the ConfigMap is, by the namespace of the bootstrapper that its CAs are trusted for. OpenShift keeps the two apart. */
const BUNDLE_NAMESPACES: Readonly<Record<string, string>> = {
  [BOOTSTRAPPER_NAMESPACE]: 'kube-system',
  [OPENSHIFT_BOOTSTRAPPER_NAMESPACE]: 'openshift-config',
}

export interface BundlePlace {
  /** The namespace of the bootstrapper. */
  bootstrapper: string
  /** The ConfigMap. */
  namespace: string
  name: string
}

export const bundlePlace = (bootstrapper: string): BundlePlace => ({
  bootstrapper,
  namespace: BUNDLE_NAMESPACES[bootstrapper] ?? bootstrapper,
  name: BUNDLE_NAME,
})

export const BUNDLE_PLACES: readonly BundlePlace[] = BOOTSTRAPPER_NAMESPACES.map(bundlePlace)

/** Each takes 600 bytes or so. More than anybody needs, and few enough to try all of them for each unknown certificate. */
const MOST_AUTHORITIES = 32
const LONGEST_BUNDLE = 64 * 1024

function requireAuthority(certificate: Certificate): void {
  const maySign = certificate.keyUsages?.includes('cert sign') ?? true
  if (!certificate.isAuthority || !maySign) {
    throw new TrustError('CERTIFICATE_INVALID', 'a certificate in the bundle is not a CA')
  }
  requireStrongKey(publicKeyOf(certificate))
}

/** The CAs in the ConfigMap. Throws if one of them cannot be used: then none of it is trusted. */
export function bundleAuthorities({data = {}}: Pick<ConfigMap, 'data'>): Certificate[] {
  const text = data[BUNDLE_KEY]?.trim() ?? ''
  if (text === '') return []
  if (text.length > LONGEST_BUNDLE) {
    throw new TrustError(
      'CERTIFICATE_INVALID',
      `the bundle has more than ${LONGEST_BUNDLE / 1024} KiB`,
    )
  }
  const authorities = parseBundle(text)
  if (authorities.length > MOST_AUTHORITIES) {
    throw new TrustError('CERTIFICATE_INVALID', `the bundle has more than ${MOST_AUTHORITIES} CAs`)
  }
  for (const one of authorities) requireAuthority(one)
  return authorities
}
