import {createHash} from 'node:crypto'
import {TrustError} from '../errors.ts'
import type {Authority, AuthorityFiles, SigningAuthority} from '../pki/authority.ts'
import {encodeBundle, parseBundle, uniqueCertificates} from '../pki/bundle.ts'
import type {AuthoritySpec, Purpose} from '../pki/catalog.ts'
import type {Certificate} from '../pki/certificate.ts'
import type {TokenKeys} from './token-keys.ts'

/** The CAs that are trusted for one purpose. */
export interface Bundle {
  certificates: readonly Certificate[]
  pem: string
}

export type Bundles = Partial<Record<Purpose, Bundle>> &
  Record<'api-server' | 'client' | 'front-proxy', Bundle>

/** What a control plane signs with, presents and trusts. Immutable: it is replaced by the next generation. */
export interface Trust {
  generation: number
  /** The existing CAs of the catalog, by id: what signs, and what is trusted. */
  authorities: ReadonlyMap<string, Authority>
  /** The CA for each signer, without those whose key is missing. */
  signing: SigningAuthorities
  bundles: Readonly<Bundles>
  /** The signers whose certificates can log in to the API server. */
  loginSigners: ReadonlySet<string>
  /** The serving certificate of the API server with its intermediates, and the key. */
  serving: {certificate: string; key: string}
  tokenKeys: TokenKeys
}

/** Which CA signs for a signer. */
export interface SignerSource {
  name: string
  /** The id of a CA of the catalog, or the files of one that an operator names. */
  authority: string | AuthorityFiles
  /** What its certificates are for; programs that verify them must trust its CA. */
  purpose?: Purpose | undefined
  /** What an operator accepts that its CA is trusted for; anything else is refused. Absent: not checked. */
  trustedFor?: readonly Purpose[] | undefined
}

export type SigningAuthorities = ReadonlyMap<string, SigningAuthority>

const toBundle = (certificates: readonly Certificate[]): Bundle => ({
  certificates: uniqueCertificates(certificates),
  pem: encodeBundle(certificates),
})

/** The trusted CAs for each purpose: those of the catalog, and those that sign for it by an operator's choice. */
export function bundlesOf(
  specs: readonly AuthoritySpec[],
  authorities: ReadonlyMap<string, Authority>,
  {signers, signing}: {signers: readonly SignerSource[]; signing: SigningAuthorities},
): Partial<Record<Purpose, Bundle>> {
  const purposes = new Map<Purpose, Certificate[]>()
  const trust = (purpose: Purpose, certificates: readonly Certificate[]) =>
    purposes.set(purpose, [...(purposes.get(purpose) ?? []), ...certificates])
  for (const {id, trustedFor} of specs) {
    const authority = authorities.get(id)
    if (authority) for (const purpose of trustedFor) trust(purpose, authority.bundle)
  }
  for (const {name, purpose} of signers) {
    const authority = signing.get(name)
    if (purpose && authority) trust(purpose, [authority.certificate])
  }
  return Object.fromEntries(
    [...purposes].map(([purpose, certificates]) => [purpose, toBundle(certificates)]),
  )
}

/**
 * Whether a program that trusts these roots also trusts what that CA signs. The file of an intermediate CA may contain the CAs above
 * it; without them, this is not known.
 */
function isTrusted({bundle}: Authority, roots: readonly Certificate[]): boolean | 'unknown' {
  let [current, ...above] = bundle
  while (current !== undefined) {
    const {subject, issuer, publicKeyDer} = current
    const isRoots = (root: Certificate) =>
      root.publicKeyDer.equals(publicKeyDer) || root.subject.der.equals(issuer.der)
    if (roots.some(isRoots)) return true
    if (subject.der.equals(issuer.der)) return false
    const next = above.find((one) => one.subject.der.equals(issuer.der))
    above = above.filter((one) => one !== next)
    current = next
  }
  return 'unknown'
}

/** The signers whose certificates a server that trusts this bundle for clients may accept as logins. */
export const loginSignersOf = (
  signing: SigningAuthorities,
  {certificates}: Bundle,
): ReadonlySet<string> => {
  const mayLogIn = (authority: Authority) => isTrusted(authority, certificates) !== false
  return new Set([...signing].filter(([, one]) => mayLogIn(one)).map(([name]) => name))
}

/** Refuses a signer whose CA is trusted for more than its operator says: its approvers could create logins or servers of the cluster. */
export function requireStatedTrust(
  signers: readonly SignerSource[],
  signing: SigningAuthorities,
  bundles: Partial<Record<Purpose, Bundle>>,
): void {
  for (const {name, trustedFor} of signers) {
    const authority = signing.get(name)
    if (!authority || !trustedFor) continue
    const verdicts = (Object.keys(bundles) as Purpose[])
      .filter((purpose) => !trustedFor.includes(purpose))
      .map((purpose) => ({
        purpose,
        verdict: isTrusted(authority, bundles[purpose]?.certificates ?? []),
      }))
    const unstated = verdicts.filter(({verdict}) => verdict === true).map(({purpose}) => purpose)
    // What to do is part of the message: a server's log shows no hints.
    if (unstated.length > 0) {
      throw new TrustError(
        'CONFIG_INVALID',
        `signer ${name}: the CA in ${authority.location} is trusted for ${unstated.join(', ')}; use another CA, or add this to trustedFor of the signer`,
      )
    }
    if (verdicts.some(({verdict}) => verdict === 'unknown')) {
      throw new TrustError(
        'CONFIG_INVALID',
        `signer ${name}: the CA in ${authority.location} was signed by another one; add the certificates of the CAs above it to that file`,
      )
    }
  }
}

/**
 * Identifies the CAs of the catalog, the serving certificate and the keys of tokens that a server uses. A rotation compares it with the
 * files. CAs that an operator names by flags are not part of it: each server has its own.
 */
export function trustDigest({
  authorities,
  serving,
  tokenKeys,
}: Pick<Trust, 'authorities' | 'serving' | 'tokenKeys'>): string {
  const fingerprints = (certificates: readonly {fingerprint: string}[]) =>
    certificates.map(({fingerprint}) => fingerprint)
  const content = {
    authorities: [...authorities].map(([id, {bundle, issuer}]) => [
      id,
      fingerprints(bundle),
      issuer !== undefined,
    ]),
    serving: fingerprints(parseBundle(serving.certificate)),
    tokenKeys: [tokenKeys.signing.id, ...tokenKeys.verification.map(({id}) => id)],
  }
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
