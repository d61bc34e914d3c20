import {ensureAuthority, readAuthority} from '../../pki/authority.ts'
import {SERVICE_ACCOUNT_KEYS, type LeafSpec} from '../../pki/catalog.ts'
import {ensureKeyPair, readKeyPair} from '../../pki/key-pair.ts'
import {findAuthority, readCatalog} from '../certificates.ts'
import {certDirOf} from '../config/plane.ts'
import {notesMade} from '../made-files.ts'
import {ensureCatalogLeaf, planLeaves, requireBroughtUsable} from './leaves.ts'
import type {InitContext, InitPhase} from './phase.ts'

const isPair = ({place}: LeafSpec): boolean => place.kind === 'pair'

async function ensureAuthorities({plane, clock, tell}: InitContext): Promise<void> {
  const {keyAlgorithm: algorithm, caCertificateValidityPeriod: lifetime} = plane.settings
  const options = {algorithm, lifetime, beforeWrite: notesMade(plane)}
  for (const spec of (await readCatalog(plane)).authorities) {
    const {created, issuer} = await ensureAuthority(certDirOf(plane), spec, options, clock)
    const kept = issuer ? 'is kept' : 'is kept; its key is not on this machine'
    tell(`the CA "${spec.id}" ${created ? 'was created' : kept}`)
  }
}

export const certs: InitPhase = {
  name: 'certs',
  summary: 'create CAs, certificates and service account keys',

  async plan(context) {
    const certDir = certDirOf(context.plane)
    const lines: string[] = []
    const catalog = await readCatalog(context.plane)
    for (const spec of catalog.authorities) {
      if (!(await readAuthority(certDir, spec)))
        lines.push(`create the CA "${spec.id}" in ${certDir}`)
    }
    lines.push(...(await planLeaves(context, catalog.leaves.filter(isPair))))
    if (!(await readKeyPair(certDir, SERVICE_ACCOUNT_KEYS))) {
      lines.push(`create the service account keys in ${certDir}`)
    }
    return lines
  },

  async run(context) {
    const leaves = (await readCatalog(context.plane)).leaves.filter(isPair)
    await requireBroughtUsable(context, leaves)
    await ensureAuthorities(context)
    for (const leaf of leaves) {
      const authority = await findAuthority(context.plane, leaf.authority)
      if (authority) await ensureCatalogLeaf(context, authority, leaf)
    }
    const {created} = await ensureKeyPair(certDirOf(context.plane), SERVICE_ACCOUNT_KEYS, {
      algorithm: context.plane.settings.keyAlgorithm,
      beforeWrite: notesMade(context.plane),
    })
    context.tell(`the service account keys ${created ? 'were created' : 'are kept'}`)
  },
}
