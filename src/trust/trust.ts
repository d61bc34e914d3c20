import type {Authority, AuthorityFiles} from '../pki/authority.ts'
import {encodeBundle, uniqueCertificates} from '../pki/bundle.ts'
import type {AuthoritySpec, Purpose} from '../pki/catalog.ts'
import type {Certificate} from '../pki/certificate.ts'
import type {Issuer} from '../pki/issuer.ts'
import type {TokenKeys} from './token-keys.ts'

/** The CAs that are trusted for one purpose. */
export interface Bundle {
  certificates: readonly Certificate[]
  pem: string
}

export type Bundles = Partial<Record<Purpose, Bundle>> &
  Record<'api-server' | 'client' | 'front-proxy', Bundle>

/** What a control plane signs with, shows and trusts. It is never changed, only replaced by its next generation. */
export interface Trust {
  generation: number
  /** The CAs of the catalog that are there, by id: what signs, and what is trusted. */
  authorities: ReadonlyMap<string, Authority>
  /** What signs for each signer; those without a key here are not in it. */
  issuers: Issuers
  bundles: Readonly<Bundles>
  /** The signers whose certificates log in to the API server. */
  loginSigners: ReadonlySet<string>
  /** What the API server shows to its callers: its certificate with the intermediates, and the key. */
  serving: {certificate: string; key: string}
  tokenKeys: TokenKeys
}

/** Which CA signs for a signer. */
export interface SignerSource {
  name: string
  /** The id of a CA of the catalog, or the files of one that an operator names. */
  authority: string | AuthorityFiles
  /** What its certificates are for; whoever checks those has to trust its CA. */
  purpose?: Purpose | undefined
}

export type Issuers = ReadonlyMap<string, Issuer>

const toBundle = (certificates: readonly Certificate[]): Bundle => ({
  certificates: uniqueCertificates(certificates),
  pem: encodeBundle(certificates),
})

/** Whom to trust for each purpose: the CAs that are meant for it, and those that sign for it by an operator's choice. */
export function bundlesOf(
  specs: readonly AuthoritySpec[],
  authorities: ReadonlyMap<string, Authority>,
  {signers, issuers}: {signers: readonly SignerSource[]; issuers: Issuers},
): Partial<Record<Purpose, Bundle>> {
  const purposes = new Map<Purpose, Certificate[]>()
  const trust = (purpose: Purpose, certificates: readonly Certificate[]) =>
    purposes.set(purpose, [...(purposes.get(purpose) ?? []), ...certificates])
  for (const {id, trustedFor} of specs) {
    const authority = authorities.get(id)
    if (authority) for (const purpose of trustedFor) trust(purpose, authority.bundle)
  }
  for (const {name, purpose} of signers) {
    const issuer = issuers.get(name)
    if (purpose && issuer) trust(purpose, [issuer.certificate])
  }
  return Object.fromEntries(
    [...purposes].map(([purpose, certificates]) => [purpose, toBundle(certificates)]),
  )
}

/**
 * Whether a server that trusts these roots for clients may come to trust a certificate of that CA. A CA that another one has signed
 * counts: whose intermediate it is cannot be known here.
 */
function mayLogIn({certificate}: Issuer, roots: readonly Certificate[]): boolean {
  const {subject, issuer, publicKeyDer} = certificate
  return (
    !subject.der.equals(issuer.der) ||
    roots.some(
      (root) => root.publicKeyDer.equals(publicKeyDer) || root.subject.der.equals(issuer.der),
    )
  )
}

/** The signers whose certificates a server that trusts this bundle for clients would accept as logins. */
export const loginSignersOf = (issuers: Issuers, {certificates}: Bundle): ReadonlySet<string> =>
  new Set([...issuers].filter(([, issuer]) => mayLogIn(issuer, certificates)).map(([name]) => name))
