import type {KeyObject} from 'node:crypto'
import {TrustError} from '../errors.ts'
import {readAuthority, type Authority} from '../pki/authority.ts'
import {SERVICE_ACCOUNT_KEYS} from '../pki/catalog.ts'
import {readKeyPair} from '../pki/key-pair.ts'
import type {TlsMaterial} from '../server/http/listener.ts'
import {CATALOG, openStore} from './certificates.ts'
import {certDirOf, type Plane} from './config/plane.ts'
import {
  DEFAULT_SIGNING,
  readSigningAuthorities,
  withClientSigners,
  type SigningAuthorities,
  type SigningSettings,
} from './signing.ts'

/** What a server serves and trusts with: read at its start, and again on SIGHUP. */
export interface ServerMaterial {
  tls: TlsMaterial
  /** The CA of the cluster. */
  rootAuthorities: string
  clientAuthorities: string
  frontProxyAuthorities: string
  /** What certificates are signed with on request. */
  signers: SigningAuthorities
  signingKey: KeyObject
}

const HINTS = ['run "trustadm init" to make what is missing']

async function requireAuthority(plane: Plane, id: string): Promise<Authority> {
  const spec = CATALOG.authorities.find((one) => one.id === id)
  const authority = spec && (await readAuthority(certDirOf(plane), spec))
  if (authority) return authority
  throw new TrustError('NOT_FOUND', `there is no CA "${id}" in ${certDirOf(plane)}`, {hints: HINTS})
}

async function servingPair(plane: Plane): Promise<{certificate: string; key: string}> {
  const leaf = CATALOG.leaves.find(({id}) => id === 'apiserver')
  const found = leaf && (await openStore(plane)(leaf.place).read())
  if (found?.certificatePem !== undefined && found.keyPem !== undefined) {
    return {certificate: found.certificatePem, key: found.keyPem}
  }
  throw new TrustError('NOT_FOUND', 'the serving certificate or its key is missing', {hints: HINTS})
}

async function signingKey(plane: Plane): Promise<KeyObject> {
  const keys = await readKeyPair(certDirOf(plane), SERVICE_ACCOUNT_KEYS)
  if (keys?.privateKey) return keys.privateKey
  throw new TrustError('NOT_FOUND', 'the key that signs service-account tokens is missing', {
    hints: HINTS,
  })
}

export async function readMaterial(
  plane: Plane,
  signing: SigningSettings = DEFAULT_SIGNING,
): Promise<ServerMaterial> {
  const {bundlePem: rootAuthorities, issuer} = await requireAuthority(plane, 'ca')
  const {bundlePem: frontProxyAuthorities} = await requireAuthority(plane, 'front-proxy-ca')
  const signers = await readSigningAuthorities(signing, issuer)
  const clientAuthorities = withClientSigners(rootAuthorities, signers)
  return {
    tls: {...(await servingPair(plane)), clientAuthorities},
    rootAuthorities,
    clientAuthorities,
    frontProxyAuthorities,
    signers,
    signingKey: await signingKey(plane),
  }
}
