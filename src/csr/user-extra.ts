import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {UserInfo} from '../api/meta.ts'
import {plainIp} from '../pki/ip-address.ts'

/** Under this key of a user's extra, Kubernetes names the credential that the user has authenticated with. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

const CERTIFICATE = 'X509SHA256='
const TOKEN = 'JTI='

/** The credential of a client certificate: its fingerprint is the hexadecimal SHA-256 of the whole certificate. */
export const certificateCredential = (fingerprint: string): string => `${CERTIFICATE}${fingerprint}`

/** The fingerprint of the certificate that a credential is; undefined if it is not one. */
export const certificateFingerprint = (credential: string): string | undefined =>
  credential.startsWith(CERTIFICATE) ? credential.slice(CERTIFICATE.length) : undefined

/** The credential of a service-account token with this `jti`. */
export const tokenCredential = (id: string): string => `${TOKEN}${id}`

/** The `jti` of the token that a credential is; undefined if it is not one. */
export const tokenOfCredential = (credential: string): string | undefined =>
  credential.startsWith(TOKEN) ? credential.slice(TOKEN.length) : undefined

/** The credential that a request was made with, as `X509SHA256=…` or `JTI=…`; undefined for bootstrap tokens. */
export const credentialOf = ({extra}: Pick<UserInfo, 'extra'>): string | undefined =>
  extra?.[CREDENTIAL_ID]?.[0]

/**
 * Under this key of spec.extra trustadm's server writes the address that a request for a node's certificate came from. It takes
 * the key out of everything that callers and impersonators bring.
 */
const KEY = 'trustadm.io/caller-address'

type Extra = Record<string, string[]>

/** What the server writes as spec.extra, with the address that it saw; undefined if it saw none. */
export function withCallerAddress(extra: Extra = {}, address: string | undefined): Extra {
  const {[KEY]: _brought, ...rest} = extra
  const canonical = plainIp(address ?? '')
  return canonical === undefined ? rest : {...rest, [KEY]: [canonical]}
}

/** The address that the server saw; to be believed only of a server of trustadm. */
export function callerAddressOf({
  spec,
}: Pick<CertificateSigningRequest, 'spec'>): string | undefined {
  const [address = '', ...others] = spec.extra?.[KEY] ?? []
  return others.length === 0 ? plainIp(address) : undefined
}
