import {TrustError} from '../../errors.ts'
import {ensureAuthority, readAuthority} from '../../pki/authority.ts'
import {SERVICE_ACCOUNT_KEYS, type Catalog, type LeafSpec} from '../../pki/catalog.ts'
import {ensureKeyPair, readKeyPair} from '../../pki/key-pair.ts'
import {findAuthority, isOfEtcd, possibleCatalog, readCatalog} from '../certificates.ts'
import {etcdOf} from '../config/etcd.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {notesMade} from '../../fs/made-files.ts'
import {planeCommand} from '../plane-command.ts'
import {ensurePlaneKey} from '../plane-key.ts'
import {ensureCatalogLeaf, planLeaves, requireBroughtUsable} from './leaves.ts'
import {CERT_NAMES, type CertName} from './names.ts'
import type {InitContext, InitPhase} from './phase.ts'

interface Part extends Catalog {
  /** Whether the keys of service accounts are part of it. */
  hasTokenKeys: boolean
}

const isPair = ({place}: LeafSpec): boolean => place.kind === 'pair'

/** An etcd is somebody else's program: its entries are created only by name. */
async function partOf(plane: Plane, name: CertName): Promise<Part> {
  const whole = name === 'all' ? await readCatalog(plane) : await possibleCatalog(plane)
  const isPart = (entry: Parameters<typeof isOfEtcd>[0] & {id: string}) =>
    name === 'all' || (name === 'etcd' ? isOfEtcd(entry) : entry.id === name)
  return {
    authorities: whole.authorities.filter(isPart),
    leaves: whole.leaves.filter(isPair).filter(isPart),
    hasTokenKeys: name === 'all' || name === SERVICE_ACCOUNT_KEYS.id,
  }
}

async function ensureAuthorities(
  {plane, clock, tell}: InitContext,
  {authorities}: Part,
): Promise<void> {
  const {keyAlgorithm: algorithm, caCertificateValidityPeriod: lifetime} = plane.settings
  const options = {algorithm, lifetime, beforeWrite: notesMade(plane)}
  for (const spec of authorities) {
    const {created, issuer} = await ensureAuthority(certDirOf(plane), spec, options, clock)
    const kept = issuer ? 'is kept' : 'is kept; its key is not on this machine'
    tell(`the CA "${spec.id}" ${created ? 'was created' : kept}`)
  }
}

/** The command that creates a CA. Some, such as those of a rotation, have no name there. */
export function commandToCreate({dir}: Plane, authority: string): string {
  const names: readonly string[] = CERT_NAMES
  const part = names.includes(authority) ? ` ${authority}` : ''
  return planeCommand(dir, `init phase certs${part}`)
}

const noAuthority = (plane: Plane, {id, authority}: LeafSpec): TrustError =>
  new TrustError('NOT_FOUND', `there is no CA "${authority}" to sign "${id}"`, {
    hints: [`create it with "${commandToCreate(plane, authority)}"`],
  })

async function plan(context: InitContext, name: CertName): Promise<string[]> {
  const certDir = certDirOf(context.plane)
  const lines: string[] = []
  const {authorities, leaves, hasTokenKeys} = await partOf(context.plane, name)
  for (const spec of authorities) {
    if (!(await readAuthority(certDir, spec)))
      lines.push(`create the CA "${spec.id}" in ${certDir}`)
  }
  lines.push(...(await planLeaves(context, leaves)))
  if (hasTokenKeys && !(await readKeyPair(certDir, SERVICE_ACCOUNT_KEYS))) {
    lines.push(`create the service account keys in ${certDir}`)
  }
  return lines
}

async function run(context: InitContext, name: CertName): Promise<void> {
  const {plane, tell} = context
  const part = await partOf(plane, name)
  await requireBroughtUsable(context, part.leaves)
  await ensureAuthorities(context, part)
  for (const leaf of part.leaves) {
    const authority = await findAuthority(plane, leaf.authority)
    if (!authority) throw noAuthority(plane, leaf)
    await ensureCatalogLeaf(context, authority, leaf)
  }
  if (!part.hasTokenKeys) return
  const {created} = await ensureKeyPair(certDirOf(plane), SERVICE_ACCOUNT_KEYS, {
    algorithm: plane.settings.keyAlgorithm,
    beforeWrite: notesMade(plane),
  })
  tell(`the service account keys ${created ? 'were created' : 'are kept'}`)
  // Other machines get it when they join; without etcd there are none.
  const {settings, joinedControlPlane = false} = plane
  if (name === 'all' && etcdOf(settings) && !joinedControlPlane) await ensurePlaneKey(plane)
}

/** Creates some of the certificates, or all that a server has. */
export const certsOf = (name: CertName): InitPhase => ({
  name: 'certs',
  summary: 'create CAs, certificates and service account keys',
  plan: (context) => plan(context, name),
  run: (context) => run(context, name),
})

export const certs = certsOf('all')
