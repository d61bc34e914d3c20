import {dirname, join} from 'node:path'
import {TrustError} from '../errors.ts'
import {type Clock, formatTimestamp} from '../runtime.ts'
import {encodeBundle, parseBundle} from './bundle.ts'
import type {AuthoritySpec} from './catalog.ts'
import {publicKeyOf, type Certificate} from './certificate.ts'
import {createAuthorityCertificate} from './create.ts'
import {readFileSafely} from '../fs/files.ts'
import {ensureFolder} from '../fs/folders.ts'
import {createIssuer, type Issuer} from './issuer.ts'
import {requireStrongKey} from './key-policy.ts'
import {generateKeys, isPairOf, parsePrivateKey, privateKeyPem, type KeyAlgorithm} from './keys.ts'
import {AUTHORITY_LIFETIME, authorityValidity} from './lifetimes.ts'
import {
  createPair,
  isMatching,
  readPair,
  type BeforeWrite,
  type LeafMaterial,
} from './pair-store.ts'

/** A CA as read from its files: what signs, and what is trusted. During a rotation, two are trusted and one signs. */
export interface Authority {
  /** The file of its certificate, for messages. */
  location: string
  /** The signing certificate: the first in its file. */
  certificate: Certificate
  /** All certificates of its file. */
  bundle: Certificate[]
  bundlePem: string
  /** Absent for an external CA, whose key is not on this machine. */
  issuer?: Issuer
}

export interface AuthorityOptions {
  algorithm?: KeyAlgorithm
  /** In milliseconds. */
  lifetime?: number
  beforeWrite?: BeforeWrite
}

/** The files of a CA. */
export interface AuthorityFiles {
  certificate: string
  key: string
}

function requireAuthority(certificate: Certificate, location: string): void {
  const maySign = certificate.keyUsages?.includes('cert sign') ?? true
  if (!certificate.isAuthority || !maySign) {
    throw new TrustError('CERTIFICATE_INVALID', `the certificate in ${location} is not a CA`, {
      hints: ['use the certificate of a CA, with the signing one first in its file'],
    })
  }
  requireStrongKey(publicKeyOf(certificate))
}

function parseAuthority(certificatePem: string, location: string): Authority {
  const bundle = parseBundle(certificatePem)
  const [certificate] = bundle
  if (!certificate)
    throw new TrustError('CERTIFICATE_INVALID', `${location} contains no certificate`)
  requireAuthority(certificate, location)
  return {location, certificate, bundle, bundlePem: encodeBundle(bundle)}
}

function issuerOf({certificate, location}: Authority, keyPem: string, keyLocation: string): Issuer {
  const key = parsePrivateKey(keyPem)
  if (isPairOf(key, publicKeyOf(certificate))) return createIssuer(certificate, key)
  throw new TrustError(
    'PAIR_MISMATCH',
    `the key in ${keyLocation} does not belong to the certificate in ${location}`,
    {
      hints: ['use the key of the first certificate in the file'],
    },
  )
}

/** Undefined if the two do not belong together, or cannot be read. */
function findSigning(
  {certificatePem = '', keyPem = ''}: Partial<LeafMaterial>,
  {location, keyLocation}: {location: string; keyLocation: string},
): SigningAuthority | undefined {
  try {
    const authority = parseAuthority(certificatePem, location)
    return {...authority, issuer: issuerOf(authority, keyPem, keyLocation)}
  } catch {
    return undefined
  }
}

/** The CA in the folder; undefined if it has neither certificate nor key. Does not check its validity. */
export async function readAuthority(
  certDir: string,
  spec: AuthoritySpec,
): Promise<Authority | undefined> {
  const location = join(certDir, spec.place.crt)
  const keyLocation = join(certDir, spec.place.key)
  let whole: SigningAuthority | undefined
  // A key takes long to read: what shows that it matches is kept.
  const found = await readPair(certDir, spec.place, (pair) => {
    whole = findSigning(pair, {location, keyLocation})
    return whole !== undefined || isMatching(pair)
  })
  if (whole) return whole
  if (!found) return undefined
  if (found.certificatePem === undefined) {
    throw new TrustError('PAIR_MISMATCH', `${keyLocation} exists, but ${location} does not`, {
      hints: ['copy the certificate of the key to that folder, or move the key away'],
    })
  }
  const authority = parseAuthority(found.certificatePem, location)
  if (found.keyPem === undefined) return authority
  return {...authority, issuer: issuerOf(authority, found.keyPem, keyLocation)}
}

/** A CA with its key. */
export type SigningAuthority = Authority & {issuer: Issuer}

/** Links are followed: Kubernetes mounts files as links. */
const readNamed = async (path: string): Promise<string> =>
  (await readFileSafely(path, {followLinks: true})).toString()

/** A CA in a file that an operator names, without its key. */
export const readNamedCertificate = async (file: string): Promise<Authority> =>
  parseAuthority(await readNamed(file), file)

/** A CA in files that an operator names. */
export async function readNamedAuthority({
  certificate: file,
  key: keyFile,
}: AuthorityFiles): Promise<SigningAuthority> {
  const authority = await readNamedCertificate(file)
  return {...authority, issuer: issuerOf(authority, await readNamed(keyFile), keyFile)}
}

/** Refuses a CA that is not valid now, and says whether it has expired or is not valid yet. */
export function requireCurrent({certificate, location}: Authority, now: Date): void {
  const {notBefore, notAfter} = certificate
  if (now > notAfter) {
    throw new TrustError(
      'SIGNER_EXPIRED',
      `the CA in ${location} expired on ${formatTimestamp(notAfter)}`,
      {
        hints: ['check the clock of this machine', 'if it is right, replace the CA'],
      },
    )
  }
  if (now < notBefore) {
    throw new TrustError(
      'SIGNER_NOT_YET_VALID',
      `the CA in ${location} is not valid before ${formatTimestamp(notBefore)}`,
      {hints: ['check the clock of this machine: it may be slow']},
    )
  }
}

async function makeAuthority(
  certDir: string,
  {commonName, place}: AuthoritySpec,
  {algorithm, lifetime = AUTHORITY_LIFETIME, beforeWrite}: AuthorityOptions,
  clock: Clock,
): Promise<boolean> {
  const keys = await generateKeys(algorithm)
  const validity = authorityValidity(clock.now(), lifetime)
  const material = {
    certificatePem: await createAuthorityCertificate({commonName}, keys, validity),
    keyPem: privateKeyPem(keys.privateKey),
  }
  return createPair(certDir, place, material, beforeWrite)
}

/**
 * The CA in the folder; creates it if it does not exist. An existing one is used and never overwritten, whoever created it;
 * without its key it is an external CA, which is trusted but cannot sign.
 */
export async function ensureAuthority(
  certDir: string,
  spec: AuthoritySpec,
  options: AuthorityOptions,
  clock: Clock,
): Promise<Authority & {created: boolean}> {
  await ensureFolder(dirname(join(certDir, spec.place.crt)))
  const there = await readAuthority(certDir, spec)
  const created = there === undefined && (await makeAuthority(certDir, spec, options, clock))
  // Read again, because another process may have created its own first.
  const authority = there ?? (await readAuthority(certDir, spec))
  if (!authority)
    throw new TrustError(
      'FILE_UNREADABLE',
      `the CA "${spec.id}" was removed while it was being created`,
    )
  requireCurrent(authority, clock.now())
  return {...authority, created}
}

/** The signing half of a CA; an external CA has none. */
export function requireIssuer({issuer, location}: Authority, wanted: string): Issuer {
  if (issuer) return issuer
  throw new TrustError(
    'SIGNER_KEY_MISSING',
    `"${wanted}" cannot be signed: the key of the CA in ${location} is missing`,
    {
      hints: [
        `sign the certificate for "${wanted}" where the CA's key is, and copy it to its location`,
        "or copy the CA's key to the folder of its certificate",
      ],
    },
  )
}
