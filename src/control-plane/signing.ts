import type {SigningAuthority} from '../controllers/signing/authorities.ts'
import {
  API_SERVER_CLIENT,
  KUBELET_CLIENT,
  WELL_KNOWN_SIGNERS,
  type WellKnownSigner,
} from '../csr/signers.ts'
import {TrustError} from '../errors.ts'
import {joinBundles, parseBundle} from '../pki/bundle.ts'
import {certificatePem, publicKeyOf} from '../pki/certificate.ts'
import {readFileSafely} from '../pki/files.ts'
import {createIssuer, type Issuer} from '../pki/issuer.ts'
import {requireStrongKey} from '../pki/key-policy.ts'
import {parsePrivateKey} from '../pki/keys.ts'
import {LEAF_LIFETIME} from '../pki/lifetimes.ts'

/** The files of a CA that an operator names. */
export interface AuthorityFiles {
  certificate: string
  key: string
}

/** What the signers sign with, as kube-controller-manager's --cluster-signing flags say. */
export interface SigningSettings {
  /** For every signer that has no files of its own. */
  files?: AuthorityFiles | undefined
  filesOf: Partial<Record<WellKnownSigner, AuthorityFiles>>
  /** The longest lifetime, in milliseconds. */
  duration: number
}

export const DEFAULT_SIGNING: SigningSettings = {filesOf: {}, duration: LEAF_LIFETIME}

export type SigningAuthorities = ReadonlyMap<WellKnownSigner, SigningAuthority>

/** Links are followed: what Kubernetes mounts into a container are links. */
async function readIssuer({certificate: file, key: keyFile}: AuthorityFiles): Promise<Issuer> {
  const [certificate] = parseBundle((await readFileSafely(file, {followLinks: true})).toString())
  const maySign = certificate?.keyUsages?.includes('cert sign') ?? true
  if (!certificate?.isAuthority || !maySign) {
    throw new TrustError('CERTIFICATE_INVALID', `the certificate in ${file} is not a CA's`, {
      hints: ['name the certificate of a CA, with the signing one first'],
    })
  }
  requireStrongKey(publicKeyOf(certificate))
  const key = parsePrivateKey((await readFileSafely(keyFile, {followLinks: true})).toString())
  try {
    return createIssuer(certificate, key)
  } catch (error) {
    throw new TrustError('PAIR_MISMATCH', `${file} and ${keyFile} are not of one pair`, {
      cause: error,
      hints: ['name the key that belongs to the first certificate of the file'],
    })
  }
}

/** The CA of every signer that can sign; `own` is for those that no files are named for. */
export async function readSigningAuthorities(
  {files, filesOf, duration}: SigningSettings,
  own?: Issuer,
): Promise<SigningAuthorities> {
  const common = files ? await readIssuer(files) : own
  const authorities = new Map<WellKnownSigner, SigningAuthority>()
  for (const signer of WELL_KNOWN_SIGNERS) {
    const named = filesOf[signer]
    const issuer = named ? await readIssuer(named) : common
    if (issuer) authorities.set(signer, {issuer, duration})
  }
  return authorities
}

/** Whom a server has to trust for what the client signers sign to be honored, besides those it trusts anyway. */
export function withClientSigners(bundle: string, authorities: SigningAuthorities): string {
  const signers = [API_SERVER_CLIENT, KUBELET_CLIENT] as const
  const added = signers.flatMap((signer) => {
    const authority = authorities.get(signer)
    return authority ? [certificatePem(authority.issuer.certificate)] : []
  })
  return joinBundles(bundle, ...added)
}
