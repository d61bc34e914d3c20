import {resolve} from 'node:path'
import type {NodeIssuers} from '../bootstrap/cluster-info.ts'
import type {Signer, SignersByName} from '../controllers/signing/decide.ts'
import {
  API_SERVER_CLIENT,
  KUBELET_CLIENT,
  KUBELET_SERVING,
  LEGACY_UNKNOWN,
  SIGNER_RULES,
  WELL_KNOWN_SIGNERS,
  type SignerRules,
  type WellKnownSigner,
} from '../csr/signers.ts'
import type {Catalog, Purpose} from '../pki/catalog.ts'
import {LEAF_LIFETIME} from '../pki/lifetimes.ts'
import type {TrustSources} from '../trust/read-trust.ts'
import type {SignerSource, SigningAuthorities, Trust} from '../trust/trust.ts'
import {CLIENT_CA, CLUSTER_CA, KUBELET_CA, readCatalog} from './certificates.ts'
import {withStored, type ClusterSigning} from './config/cluster-signing.ts'
import {certDirOf, type Plane} from './config/plane.ts'
import type {SignerSettings} from './config/signers.ts'
import {planeCommand} from './plane-command.ts'

/** What the signers sign with: from flags, else from the configuration. */
export type SigningSettings = ClusterSigning

const NOTHING_GIVEN: SigningSettings = {filesOf: {}}

/** What a control plane signs with: flags win over its configuration. */
export const signingOf = (
  {settings: {clusterSigning}}: Pick<Plane, 'settings'>,
  flags: SigningSettings = NOTHING_GIVEN,
): SigningSettings => withStored(flags, clusterSigning)

/** The CA of the catalog for each signer, and what its certificates are for. Nothing trusts what legacy-unknown signs. */
const OWN: Record<WellKnownSigner, {authority: string; purpose?: Purpose}> = {
  [API_SERVER_CLIENT]: {authority: CLUSTER_CA, purpose: 'client'},
  [KUBELET_CLIENT]: {authority: CLUSTER_CA, purpose: 'client'},
  [KUBELET_SERVING]: {authority: 'kubelet-serving-ca', purpose: 'kubelet-serving'},
  [LEGACY_UNKNOWN]: {authority: 'legacy-unknown-ca'},
}

/**
 * The CA of each signer in a control plane: from its own flags, else its own CA in the catalog. The common flags replace only the
 * cluster's CA: a signer with its own CA never signs with one that is trusted for more.
 */
function planeSigners({files, filesOf}: SigningSettings, {authorities}: Catalog): SignerSource[] {
  const clients = authorities.some(({id}) => id === CLIENT_CA) ? CLIENT_CA : CLUSTER_CA
  return WELL_KNOWN_SIGNERS.map((name) => {
    const {authority, purpose} = OWN[name]
    const own = authority === CLUSTER_CA ? (files ?? clients) : authority
    return {name, authority: filesOf[name] ?? own, purpose}
  })
}

/** The CA of each signer outside of a control plane, where there is no catalog: only from flags. */
export function namedSigners({files, filesOf}: SigningSettings): SignerSource[] {
  return WELL_KNOWN_SIGNERS.flatMap((name) => {
    const authority = filesOf[name] ?? (name === LEGACY_UNKNOWN ? undefined : files)
    return authority ? [{name, authority}] : []
  })
}

/** The CA of each signer that an operator has added. */
const addedSigners = ({dir, settings}: Plane): SignerSource[] =>
  settings.signers.map(({name, certificate, key, trustedFor}) => ({
    name,
    authority: {certificate: resolve(dir, certificate), key: resolve(dir, key)},
    trustedFor,
  }))

const rulesOf = ({commonName, organizations, names, usages}: SignerSettings): SignerRules => ({
  ...(commonName === undefined ? {} : {commonName}),
  organizations: {required: [], optional: organizations},
  names,
  usages: {required: [], optional: usages},
})

/** The signers that can sign, with their CAs and rules. */
export function signersOf(
  signing: SigningAuthorities,
  {duration = LEAF_LIFETIME}: SigningSettings,
  added: readonly SignerSettings[] = [],
): SignersByName {
  const signers = new Map<string, Signer>()
  const add = (name: string, rules: SignerRules, longest: number) => {
    const authority = signing.get(name)
    if (authority) signers.set(name, {rules, issuer: authority.issuer, duration: longest})
  }
  for (const name of WELL_KNOWN_SIGNERS) add(name, SIGNER_RULES[name], duration)
  for (const one of added) add(one.name, rulesOf(one), one.maxValidityPeriod)
  return signers
}

/**
 * The keys of the CAs that sign for nodes, and the CAs of those who call kubelets, for cluster-info. Undefined before clients have a CA of their own: until then cluster-info is
 * as kubeadm writes it.
 */
export function nodeIssuersOf({
  authorities,
  signing,
}: Pick<Trust, 'authorities' | 'signing'>): NodeIssuers | undefined {
  if (!authorities.has(CLIENT_CA)) return undefined
  const keyOf = (signer: WellKnownSigner) => signing.get(signer)?.certificate.subjectKeyId
  const [client, serving] = [keyOf(KUBELET_CLIENT), keyOf(KUBELET_SERVING)]
  const kubeletClientCa = authorities.get(KUBELET_CA)?.bundlePem
  return {
    ...(client && {client}),
    ...(serving && {serving}),
    ...(kubeletClientCa !== undefined && {kubeletClientCa}),
  }
}

/** Where the trust of a control plane is read from. */
export async function trustSources(
  plane: Plane,
  signing: SigningSettings = signingOf(plane),
): Promise<TrustSources> {
  const catalog = await readCatalog(plane)
  return {
    certDir: certDirOf(plane),
    catalog,
    signers: [...planeSigners(signing, catalog), ...addedSigners(plane)],
  }
}

/**
 * The signers whose CA an older release did not create, one sentence each. After an upgrade the server still starts: it is useful
 * even if it cannot sign for one of them.
 */
export const shortcomingsOf = (
  {dir}: Plane,
  {authorities, sources: {certDir, signers}}: Pick<Trust, 'authorities'> & {sources: TrustSources},
): string[] =>
  signers.flatMap(({name, authority: id}) =>
    typeof id !== 'string' || authorities.has(id)
      ? []
      : [
          `nothing is signed for ${name}: there is no CA "${id}" in ${certDir}; run "${planeCommand(dir, 'init')}" to create it`,
        ],
  )
