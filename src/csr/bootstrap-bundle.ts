import type {ConfigMap} from '../api/core.ts'
import {TrustError} from '../errors.ts'
import {parseBundle} from '../pki/bundle.ts'
import {publicKeyOf, type Certificate} from '../pki/certificate.ts'
import {requireStrongKey} from '../pki/key-policy.ts'
import {
  BOOTSTRAPPER_NAMESPACE,
  BOOTSTRAPPER_NAMESPACES,
  OPENSHIFT_BOOTSTRAPPER_NAMESPACE,
} from './bootstrapper.ts'

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
