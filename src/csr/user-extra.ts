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
 * both keys out of everything that callers and impersonators bring.
 */
const KEY = 'trustadm.io/caller-address'
/** In the same way, the pin of the key of the client certificate that a request was made with. */
const CALLER_KEY = 'trustadm.io/caller-key'

type Extra = Record<string, string[]>

/** What the server saw of a caller's own connection. */
export interface SeenCaller {
  address?: string | undefined
  /** The pin of the key of its client certificate. */
  key?: string | undefined
}

/** What the server writes as spec.extra, with what it saw of the caller. */
export function withCaller(extra: Extra = {}, {address, key}: SeenCaller): Extra {
  const {[KEY]: _address, [CALLER_KEY]: _key, ...rest} = extra
  const canonical = plainIp(address ?? '')
  return {
    ...rest,
    ...(canonical !== undefined && {[KEY]: [canonical]}),
    ...(key !== undefined && {[CALLER_KEY]: [key]}),
  }
}

/** The pin of the key that the caller authenticated with; to be believed only of a server of trustadm. */
export const callerKeyOf = ({spec}: Pick<CertificateSigningRequest, 'spec'>): string | undefined =>
  spec.extra?.[CALLER_KEY]?.[0]

/** The address that the server saw; to be believed only of a server of trustadm. */
export function callerAddressOf({
  spec,
}: Pick<CertificateSigningRequest, 'spec'>): string | undefined {
  const [address = '', ...others] = spec.extra?.[KEY] ?? []
  return others.length === 0 ? plainIp(address) : undefined
}
