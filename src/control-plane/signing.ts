import type {Signer, SignersByName} from '../controllers/signing/signers.ts'
import {
  CLIENT_SIGNERS,
  LEGACY_UNKNOWN,
  SIGNER_RULES,
  WELL_KNOWN_SIGNERS,
  type WellKnownSigner,
} from '../csr/signers.ts'
import {TrustError} from '../errors.ts'
import {joinBundles, parseBundle} from '../pki/bundle.ts'
import {certificatePem, publicKeyOf, type Certificate} from '../pki/certificate.ts'
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

/** The CAs that a control plane has for its signers. */
export interface OwnIssuers {
  /** The CA that clients are known by. */
  cluster?: Issuer | undefined
  /** Of signers that have a CA to themselves. */
  of?: Partial<Record<WellKnownSigner, Issuer | undefined>>
}

/** Signers that never use a CA that is there for others too: nobody has to trust what they sign. */
const APART: readonly WellKnownSigner[] = [LEGACY_UNKNOWN]

/**
 * The CA of every signer that can sign: the one its own flags name, else the one it has to itself, else the common one. Where the
 * control plane lacks a CA that it should have for a signer, that signer does not sign: never with a CA of more trust.
 */
export async function readSigners(
  {files: commonFiles, filesOf, duration}: SigningSettings,
  {cluster, of: own = {}}: OwnIssuers = {},
): Promise<SignersByName> {
  const common = commonFiles ? await readIssuer(commonFiles) : cluster
  const signers = new Map<string, Signer>()
  for (const name of WELL_KNOWN_SIGNERS) {
    const files = filesOf[name]
    const hasOwn = name in own || APART.includes(name)
    const issuer = files ? await readIssuer(files) : hasOwn ? own[name] : common
    if (issuer) signers.set(name, {rules: SIGNER_RULES[name], issuer, duration})
  }
  return signers
}

/** Whom a server has to trust for what the client signers sign to be honored, besides those it trusts anyway. */
export function withClientSigners(bundle: string, signers: SignersByName): string {
  const added = CLIENT_SIGNERS.flatMap((name) => {
    const signer = signers.get(name)
    return signer ? [certificatePem(signer.issuer.certificate)] : []
  })
  return joinBundles(bundle, ...added)
}

/**
 * Whether a server that trusts these roots for clients may come to trust a certificate of that CA. A CA that another one has signed
 * counts, for who that is under cannot be known here.
 */
function mayBeBelieved({certificate}: Issuer, roots: readonly Certificate[]): boolean {
  const {subject, issuer, publicKeyDer} = certificate
  return (
    !subject.der.equals(issuer.der) ||
    roots.some(
      (root) => root.publicKeyDer.equals(publicKeyDer) || root.subject.der.equals(issuer.der),
    )
  )
}

/** The signers whose certificates a server that trusts this bundle for clients would take for a login. */
export function believedSigners(bundle: string, signers: SignersByName): Set<string> {
  const roots = parseBundle(bundle)
  const believed = [...signers].filter(([, {issuer}]) => mayBeBelieved(issuer, roots))
  return new Set(believed.map(([name]) => name))
}
