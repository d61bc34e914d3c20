import type {KeyObject} from 'node:crypto'
import type {SignersByName} from '../controllers/signing/signers.ts'
import {KUBELET_SERVING, LEGACY_UNKNOWN} from '../csr/signers.ts'
import {TrustError} from '../errors.ts'
import {readAuthority, type Authority} from '../pki/authority.ts'
import {joinBundles} from '../pki/bundle.ts'
import {SERVICE_ACCOUNT_KEYS} from '../pki/catalog.ts'
import {certificatePem} from '../pki/certificate.ts'
import {readKeyPair} from '../pki/key-pair.ts'
import type {TlsMaterial} from '../server/http/listener.ts'
import {CATALOG, openStore} from './certificates.ts'
import {certDirOf, type Plane} from './config/plane.ts'
import {
  DEFAULT_SIGNING,
  believedSigners,
  readSigners,
  withClientSigners,
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
  signers: SignersByName
  /** The signers whose certificates log in here. */
  believedSigners: ReadonlySet<string>
  /** The CAs of kubelets' serving certificates; undefined where there is none. */
  kubeletServingAuthorities: string | undefined
  /** What does not work for want of a CA that an older release did not make, and what to do; a sentence each. */
  shortcomings: readonly string[]
  signingKey: KeyObject
}

const HINTS = ['run "trustadm init" to make what is missing']

async function findAuthority(plane: Plane, id: string): Promise<Authority | undefined> {
  const spec = CATALOG.authorities.find((one) => one.id === id)
  return spec && (await readAuthority(certDirOf(plane), spec))
}

async function requireAuthority(plane: Plane, id: string): Promise<Authority> {
  const authority = await findAuthority(plane, id)
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

/** The CAs that sign for one signer and nobody else. */
const SIGNERS_APART = {
  'kubelet-serving-ca': KUBELET_SERVING,
  'legacy-unknown-ca': LEGACY_UNKNOWN,
} as const

type Apart = Record<keyof typeof SIGNERS_APART, Authority | undefined>

/** A server that cannot sign for one signer is of use all the same, so an upgrade does not keep it from starting. */
function shortcomingsOf(plane: Plane, apart: Apart, signers: SignersByName): string[] {
  return (Object.keys(apart) as (keyof Apart)[])
    .filter((id) => apart[id] === undefined && !signers.has(SIGNERS_APART[id]))
    .map(
      (id) =>
        `nothing is signed for ${SIGNERS_APART[id]}: there is no CA "${id}" in ${certDirOf(plane)}; run "trustadm init" to make it`,
    )
}

/** The bundle that kubelets' callers need: of the CA made for it, and of the one that flags name in its place. */
function servingBundle(own: Authority | undefined, signers: SignersByName): string | undefined {
  const issuer = signers.get(KUBELET_SERVING)?.issuer
  const texts = [
    ...(own ? [own.bundlePem] : []),
    ...(issuer ? [certificatePem(issuer.certificate)] : []),
  ]
  return texts.length === 0 ? undefined : joinBundles(...texts)
}

export async function readMaterial(
  plane: Plane,
  signing: SigningSettings = DEFAULT_SIGNING,
): Promise<ServerMaterial> {
  const {bundlePem: rootAuthorities, issuer: cluster} = await requireAuthority(plane, 'ca')
  const {bundlePem: frontProxyAuthorities} = await requireAuthority(plane, 'front-proxy-ca')
  const apart: Apart = {
    'kubelet-serving-ca': await findAuthority(plane, 'kubelet-serving-ca'),
    'legacy-unknown-ca': await findAuthority(plane, 'legacy-unknown-ca'),
  }
  const signers = await readSigners(signing, {
    cluster,
    of: {
      [KUBELET_SERVING]: apart['kubelet-serving-ca']?.issuer,
      [LEGACY_UNKNOWN]: apart['legacy-unknown-ca']?.issuer,
    },
  })
  const clientAuthorities = withClientSigners(rootAuthorities, signers)
  return {
    tls: {...(await servingPair(plane)), clientAuthorities},
    rootAuthorities,
    clientAuthorities,
    frontProxyAuthorities,
    signers,
    believedSigners: believedSigners(clientAuthorities, signers),
    kubeletServingAuthorities: servingBundle(apart['kubelet-serving-ca'], signers),
    shortcomings: shortcomingsOf(plane, apart, signers),
    signingKey: await signingKey(plane),
  }
}
