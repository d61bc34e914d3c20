import {dirname, join} from 'node:path'
import {TrustError} from '../errors.ts'
import type {Clock} from '../runtime.ts'
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
import {createPair, readPair, type BeforeWrite} from './pair-store.ts'

/** A CA as it is found in its files: what signs, and what is trusted. While it is rotated, two are trusted and one signs. */
export interface Authority {
  /** The file of its certificate, for messages. */
  location: string
  /** The one that signs: the first of its file. */
  certificate: Certificate
  /** All certificates of its file. */
  bundle: Certificate[]
  bundlePem: string
  /** Absent for an external CA, whose key is elsewhere. */
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
    throw new TrustError('CERTIFICATE_INVALID', `the certificate in ${location} is not a CA's`, {
      hints: ['use the certificate of a CA, with the signing one first in its file'],
    })
  }
  requireStrongKey(publicKeyOf(certificate))
}

function parseAuthority(certificatePem: string, location: string): Authority {
  const bundle = parseBundle(certificatePem)
  const [certificate] = bundle
  if (!certificate) throw new TrustError('CERTIFICATE_INVALID', `${location} holds no certificate`)
  requireAuthority(certificate, location)
  return {location, certificate, bundle, bundlePem: encodeBundle(bundle)}
}

function issuerOf({certificate, location}: Authority, keyPem: string, keyLocation: string): Issuer {
  const key = parsePrivateKey(keyPem)
  if (isPairOf(key, publicKeyOf(certificate))) return createIssuer(certificate, key)
  throw new TrustError('PAIR_MISMATCH', `${location} and ${keyLocation} are not of one pair`, {
    hints: ['use the key that belongs to the first certificate of the file'],
  })
}

/** The CA of the folder; undefined if neither its certificate nor its key is there. Its time is not looked at. */
export async function readAuthority(
  certDir: string,
  spec: AuthoritySpec,
): Promise<Authority | undefined> {
  const found = await readPair(certDir, spec.place)
  if (!found) return undefined
  const location = join(certDir, spec.place.crt)
  const keyLocation = join(certDir, spec.place.key)
  if (found.certificatePem === undefined) {
    throw new TrustError('PAIR_MISMATCH', `there is ${keyLocation}, but no ${location}`, {
      hints: ['put the certificate that belongs to the key beside it, or move the key away'],
    })
  }
  const authority = parseAuthority(found.certificatePem, location)
  if (found.keyPem === undefined) return authority
  return {...authority, issuer: issuerOf(authority, found.keyPem, keyLocation)}
}

/** A CA whose key is here. */
export type SigningAuthority = Authority & {issuer: Issuer}

/** A CA in files that an operator names. Links are followed: what Kubernetes mounts into a container are links. */
export async function readNamedAuthority({
  certificate: file,
  key: keyFile,
}: AuthorityFiles): Promise<SigningAuthority> {
  const read = async (path: string) => (await readFileSafely(path, {followLinks: true})).toString()
  const authority = parseAuthority(await read(file), file)
  return {...authority, issuer: issuerOf(authority, await read(keyFile), keyFile)}
}

/** Refuses a CA outside of its time, and says which way the clock or the CA is off. */
export function requireCurrent({certificate, location}: Authority, now: Date): void {
  const {notBefore, notAfter} = certificate
  if (now > notAfter) {
    throw new TrustError(
      'SIGNER_EXPIRED',
      `the CA in ${location} has expired on ${notAfter.toISOString()}`,
      {
        hints: ['look at the clock of this machine', 'otherwise the CA must be replaced'],
      },
    )
  }
  if (now < notBefore) {
    throw new TrustError(
      'SIGNER_NOT_YET_VALID',
      `the CA in ${location} is not valid before ${notBefore.toISOString()}`,
      {hints: ['look at the clock of this machine: it may be slow']},
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
 * The CA of the folder, made where it is not there. One that is there is used and never overwritten, be it ours or an
 * operator's; without its key it is an external CA, which is trusted and cannot sign.
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
  // Read back also where another process was first with its own.
  const authority = there ?? (await readAuthority(certDir, spec))
  if (!authority)
    throw new TrustError('FILE_UNREADABLE', `the CA "${spec.id}" was removed while it was made`)
  requireCurrent(authority, clock.now())
  return {...authority, created}
}

/** The CA's signing half; an external CA has none here. */
export function requireIssuer({issuer, location}: Authority, wanted: string): Issuer {
  if (issuer) return issuer
  throw new TrustError(
    'SIGNER_KEY_MISSING',
    `"${wanted}" cannot be signed: the key of the CA in ${location} is not here`,
    {
      hints: [
        `have the certificate for "${wanted}" signed where the CA's key is kept, and put it in its place`,
        "or put the CA's key beside its certificate",
      ],
    },
  )
}
