import type {KeyObject} from 'node:crypto'
import {TrustError} from '../errors.ts'
import {readAuthority, type Authority} from '../pki/authority.ts'
import {SERVICE_ACCOUNT_KEYS} from '../pki/catalog.ts'
import type {Issuer} from '../pki/issuer.ts'
import {readKeyPair} from '../pki/key-pair.ts'
import type {TlsMaterial} from '../server/http/listener.ts'
import {CATALOG, openStore} from './certificates.ts'
import {certDirOf, type Plane} from './config/plane.ts'

/** What a server serves and trusts with: read at its start, and again on SIGHUP. */
export interface ServerMaterial {
  tls: TlsMaterial
  clientAuthorities: string
  frontProxyAuthorities: string
  /** The CA that signs requests; where its key is not here, others have to. */
  issuer: Issuer | undefined
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

export async function readMaterial(plane: Plane): Promise<ServerMaterial> {
  const {bundlePem: clientAuthorities, issuer} = await requireAuthority(plane, 'ca')
  const {bundlePem: frontProxyAuthorities} = await requireAuthority(plane, 'front-proxy-ca')
  return {
    tls: {...(await servingPair(plane)), clientAuthorities},
    clientAuthorities,
    frontProxyAuthorities,
    issuer,
    signingKey: await signingKey(plane),
  }
}
