import type {CertificateSigningRequest} from '../api/certificates.ts'
import {plainIp} from '../pki/ip-address.ts'

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
