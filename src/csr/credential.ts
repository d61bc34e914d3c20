import type {UserInfo} from '../api/meta.ts'

/** Under this key of a user's extra, Kubernetes names the credential that the user has authenticated with. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

const CERTIFICATE = 'X509SHA256='

/** The credential of a client certificate: its fingerprint is the hexadecimal SHA-256 of the whole certificate. */
export const certificateCredential = (fingerprint: string): string => `${CERTIFICATE}${fingerprint}`

/** The fingerprint of the certificate that a credential is; undefined if it is not one. */
export const certificateFingerprint = (credential: string): string | undefined =>
  credential.startsWith(CERTIFICATE) ? credential.slice(CERTIFICATE.length) : undefined

/** The credential of a service-account token with this `jti`. */
export const tokenCredential = (id: string): string => `JTI=${id}`

/** The credential that a request was made with, as `X509SHA256=…` or `JTI=…`; undefined for bootstrap tokens. */
export const credentialOf = ({extra}: Pick<UserInfo, 'extra'>): string | undefined =>
  extra?.[CREDENTIAL_ID]?.[0]
