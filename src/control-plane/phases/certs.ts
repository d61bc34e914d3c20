import {ensureAuthority, readAuthority} from '../../pki/authority.ts'
import {SERVICE_ACCOUNT_KEYS, type LeafSpec} from '../../pki/catalog.ts'
import {ensureKeyPair, readKeyPair} from '../../pki/key-pair.ts'
import {ensureLeaf} from '../../pki/leaf.ts'
import {CATALOG, leafOptions} from '../certificates.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {savePlane} from '../config/stored.ts'
import {authorityOf, planLeaves, tellOutcome} from './leaves.ts'
import type {Phase, PhaseContext} from './phase.ts'

const isPair = ({place}: LeafSpec): boolean => place.kind === 'pair'

/** Notes first that the CA is ours to make, so that `reset` can tell it from one that an operator brought. */
async function noteAsOurs(plane: Plane, id: string): Promise<Plane> {
  if (plane.generatedAuthorities.includes(id)) return plane
  const noted = {...plane, generatedAuthorities: [...plane.generatedAuthorities, id]}
  await savePlane(noted)
  return noted
}

async function ensureAuthorities(context: PhaseContext): Promise<void> {
  const {clock, tell} = context
  const certDir = certDirOf(context.plane)
  for (const spec of CATALOG.authorities) {
    if (!(await readAuthority(certDir, spec))) {
      context.plane = await noteAsOurs(context.plane, spec.id)
    }
    const {keyAlgorithm: algorithm, caCertificateValidityPeriod: lifetime} = context.plane.settings
    const {created, issuer} = await ensureAuthority(certDir, spec, {algorithm, lifetime}, clock)
    const kept = issuer ? 'is kept' : 'is kept; its key is elsewhere'
    tell(`the CA "${spec.id}" ${created ? 'was made' : kept}`)
  }
}

export const certs: Phase = {
  name: 'certs',
  summary: 'make CAs, certificates and keys of service accounts',

  async plan(context) {
    const certDir = certDirOf(context.plane)
    const lines: string[] = []
    for (const spec of CATALOG.authorities) {
      if (!(await readAuthority(certDir, spec)))
        lines.push(`make the CA "${spec.id}" in ${certDir}`)
    }
    lines.push(...(await planLeaves(context, CATALOG.leaves.filter(isPair))))
    if (!(await readKeyPair(certDir, SERVICE_ACCOUNT_KEYS))) {
      lines.push(`make the keys of service accounts in ${certDir}`)
    }
    return lines
  },

  async run(context) {
    await ensureAuthorities(context)
    for (const leaf of CATALOG.leaves.filter(isPair)) {
      const authority = await authorityOf(context.plane, leaf)
      if (!authority) continue
      const options = leafOptions(context.plane, leaf)
      tellOutcome(await ensureLeaf(authority, leaf, options, context.clock), context.tell)
    }
    const {created} = await ensureKeyPair(certDirOf(context.plane), SERVICE_ACCOUNT_KEYS, {
      algorithm: context.plane.settings.keyAlgorithm,
    })
    context.tell(`the keys of service accounts ${created ? 'were made' : 'are kept'}`)
  },
}
