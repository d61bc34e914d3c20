import {join} from 'node:path'
import {createSecureContext} from 'node:tls'
import {TrustError, messageOf} from '../errors.ts'
import {
  readAuthority,
  readNamedAuthority,
  type Authority,
  type SigningAuthority,
} from '../pki/authority.ts'
import {SERVICE_ACCOUNT_KEYS, type Catalog, type Purpose} from '../pki/catalog.ts'
import {readKeyPair} from '../pki/key-pair.ts'
import {isMatching, readPair} from '../pki/pair-store.ts'
import {createTokenKeys, type TokenKeys} from './token-keys.ts'
import {
  bundlesOf,
  loginSignersOf,
  requireStatedTrust,
  type Bundle,
  type SignerSource,
  type SigningAuthorities,
  type Trust,
} from './trust.ts'

/** Where the trust of a control plane is read from. */
export interface TrustSources {
  certDir: string
  catalog: Catalog
  signers: readonly SignerSource[]
}

const HINTS = ['run "trustadm init" to create what is missing']

/** The existing CAs of a catalog, by id. */
export async function readAuthorities(
  certDir: string,
  {authorities}: Pick<Catalog, 'authorities'>,
): Promise<ReadonlyMap<string, Authority>> {
  const found = await Promise.all(
    authorities.map(async (spec) => [spec.id, await readAuthority(certDir, spec)] as const),
  )
  return new Map(found.filter((one): one is [string, Authority] => one[1] !== undefined))
}

/** The CA for each signer. A signer whose CA or key is not on this machine is left to other programs. */
export async function readSigning(
  signers: readonly SignerSource[],
  authorities: ReadonlyMap<string, Authority> = new Map(),
): Promise<SigningAuthorities> {
  const signing = new Map<string, SigningAuthority>()
  for (const {name, authority} of signers) {
    const found =
      typeof authority === 'string'
        ? authorities.get(authority)
        : await readNamedAuthority(authority)
    if (found?.issuer) signing.set(name, {...found, issuer: found.issuer})
  }
  return signing
}

function requireBundle(
  bundles: Partial<Record<Purpose, Bundle>>,
  purpose: Purpose,
  {certDir, catalog}: TrustSources,
): Bundle {
  const bundle = bundles[purpose]
  if (bundle) return bundle
  const ids = catalog.authorities
    .filter(({trustedFor}) => trustedFor.includes(purpose))
    .map(({id}) => `"${id}"`)
  throw new TrustError('NOT_FOUND', `there is no CA ${ids.join(' or ')} in ${certDir}`, {
    hints: HINTS,
  })
}

/** The serving certificate and its key. A pair that TLS cannot use is refused here, before anything changes. */
async function readServing({certDir, catalog}: TrustSources): Promise<Trust['serving']> {
  const place = catalog.leaves.find(({id}) => id === 'apiserver')?.place
  const found = place?.kind === 'pair' ? await readPair(certDir, place) : undefined
  if (place?.kind !== 'pair' || !found?.certificatePem || !found.keyPem) {
    throw new TrustError('NOT_FOUND', 'the serving certificate or its key is missing', {
      hints: HINTS,
    })
  }
  const {certificatePem: certificate, keyPem: key} = found
  const location = join(certDir, place.crt)
  const hints = ['create a new pair with "trustadm certificate renew apiserver"']
  if (!isMatching(found)) {
    throw new TrustError('PAIR_MISMATCH', `${location} does not belong to its key`, {hints})
  }
  try {
    // Without a list of CAs, even an empty one, Node.js reads all public ones: that takes as long as its own start.
    createSecureContext({cert: certificate, key, ca: []})
  } catch (error) {
    const problem = `TLS cannot use the certificate in ${location}: ${messageOf(error)}`
    throw new TrustError('CERTIFICATE_INVALID', problem, {hints})
  }
  return {certificate, key}
}

async function readTokenKeys({certDir}: TrustSources): Promise<TokenKeys> {
  const keys = await readKeyPair(certDir, SERVICE_ACCOUNT_KEYS)
  if (keys?.privateKey) return createTokenKeys(keys.privateKey, keys.publicKeys)
  throw new TrustError('NOT_FOUND', 'the key that signs service-account tokens is missing', {
    hints: HINTS,
  })
}

/** Reads everything, or throws: parts of different versions are never mixed. */
export async function readTrust(sources: TrustSources, generation: number): Promise<Trust> {
  const {certDir, catalog, signers} = sources
  const authorities = await readAuthorities(certDir, catalog)
  const signing = await readSigning(signers, authorities)
  const found = bundlesOf(catalog.authorities, authorities, {signers, signing})
  requireStatedTrust(signers, signing, found)
  const bundles = {
    ...found,
    'api-server': requireBundle(found, 'api-server', sources),
    client: requireBundle(found, 'client', sources),
    'front-proxy': requireBundle(found, 'front-proxy', sources),
  }
  return {
    generation,
    authorities,
    signing,
    bundles,
    loginSigners: loginSignersOf(signing, bundles.client),
    serving: await readServing(sources),
    tokenKeys: await readTokenKeys(sources),
  }
}
