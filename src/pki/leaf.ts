import type {Clock} from '../runtime.ts'
import {requireCurrent, requireIssuer, type Authority} from './authority.ts'
import type {CatalogContext, LeafSpec} from './catalog.ts'
import {encodeBundle, parseBundle} from './bundle.ts'
import {parseCertificate, type Certificate} from './certificate.ts'
import {issueLeaf} from './issuer.ts'
import {generateKeys, privateKeyPem, type KeyAlgorithm} from './keys.ts'
import {viewLeaf} from './leaf-problems.ts'
import {LEAF_LIFETIME, validityFor} from './lifetimes.ts'
import type {LeafStore} from './pair-store.ts'
import {NO_NAMES, joinNames, type SubjectNames} from './subject-names.ts'
import type {Usage} from './usages.ts'

export interface LeafOptions {
  store: LeafStore
  /** The CAs to store with it, if they are not those of its own CA. */
  caPem?: string | undefined
  /** Certificates of its CA by other CAs, to be presented with it, as PEM. */
  chainPem?: string | undefined
  algorithm?: KeyAlgorithm
  /** In milliseconds; never beyond the CA's own expiry. */
  lifetime?: number
}

export interface LeafResult {
  id: string
  location: string
  outcome: 'kept' | 'created' | 'replaced'
  /** Why it was not kept. */
  problems: string[]
  certificate: Certificate
}

/** A server's RSA key may also decrypt session keys of old TLS clients; other keys cannot, and clients need not. */
function usagesFor({usages}: LeafSpec, algorithm: string | undefined): Usage[] {
  const enciphers = algorithm === 'rsa' && usages.includes('server auth')
  return enciphers ? [...usages, 'key encipherment'] : [...usages]
}

async function makeLeaf(
  authority: Authority,
  leaf: LeafSpec,
  names: Readonly<SubjectNames>,
  {store, caPem, chainPem = '', algorithm, lifetime = LEAF_LIFETIME}: LeafOptions,
  clock: Clock,
): Promise<Certificate> {
  const issuer = requireIssuer(authority, leaf.id)
  requireCurrent(authority, clock.now())
  const {publicKey, privateKey} = await generateKeys(algorithm)
  const certificatePem = await issueLeaf(issuer, {
    subject: leaf.subject,
    names,
    publicKey,
    usages: usagesFor(leaf, publicKey.asymmetricKeyType),
    validity: validityFor(clock.now(), lifetime, authority.certificate.notAfter),
  })
  await store.write({
    certificatePem: certificatePem + chainPem,
    keyPem: privateKeyPem(privateKey),
    caPem: caPem ?? authority.bundlePem,
  })
  return parseCertificate(certificatePem)
}

/** Keeps a leaf that matches the catalog, otherwise creates a new one. */
export async function ensureLeaf(
  authority: Authority,
  leaf: LeafSpec,
  options: LeafOptions & {context: CatalogContext},
  clock: Clock,
): Promise<LeafResult> {
  const {store, context, caPem} = options
  const names = leaf.names(context)
  const material = await store.read()
  const expected = {leaf, authority, now: clock.now(), names, caPem}
  const {certificate, problems} = viewLeaf(material, expected)
  const about = {id: leaf.id, location: store.location, problems}
  if (certificate && problems.length === 0) return {...about, outcome: 'kept', certificate}
  return {
    ...about,
    outcome: material ? 'replaced' : 'created',
    certificate: await makeLeaf(authority, leaf, names, options, clock),
  }
}

/** What certifies the same CA by another one, and is stored with a leaf: a rotation puts it there for a while. */
function chainHeld(text: string | undefined, {certificate}: Authority, now: Date): string {
  try {
    const [, ...chain] = text === undefined ? [] : parseBundle(text)
    const isOfCa = (one: Certificate) => one.publicKeyDer.equals(certificate.publicKeyDer)
    return encodeBundle(chain.filter((one) => isOfCa(one) && now < one.notAfter))
  } catch {
    return ''
  }
}

function namesHeld(certificatePem: string | undefined): Readonly<SubjectNames> {
  try {
    return certificatePem === undefined ? NO_NAMES : parseCertificate(certificatePem).names
  } catch {
    return NO_NAMES
  }
}

/**
 * Replaces a leaf with a new one. As in kubeadm's renewal, it keeps the names of the old certificate; those of a context, if
 * given, are added.
 */
export async function renewLeaf(
  authority: Authority,
  leaf: LeafSpec,
  options: LeafOptions & {context?: CatalogContext},
  clock: Clock,
): Promise<LeafResult> {
  const {store, context} = options
  const material = await store.read()
  const names = joinNames(
    namesHeld(material?.certificatePem),
    context ? leaf.names(context) : NO_NAMES,
  )
  const held = chainHeld(material?.certificatePem, authority, clock.now())
  const chainPem = options.chainPem ?? held
  return {
    id: leaf.id,
    location: store.location,
    outcome: material ? 'replaced' : 'created',
    problems: [],
    certificate: await makeLeaf(authority, leaf, names, {...options, chainPem}, clock),
  }
}
