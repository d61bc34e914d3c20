import {planeCommand} from '../plane-command.ts'
import {TrustError} from '../../errors.ts'
import type {LeafMaterial, LeafStore} from '../../pki/pair-store.ts'
import type {LeafSpec} from '../../pki/catalog.ts'
import {findAuthority, openStore, readCatalog} from '../certificates.ts'
import {endpointOf} from '../config/plane.ts'
import {serverOf} from '../kubeconfig-store.ts'
import {ensureCatalogLeaf, planLeaves, requireBroughtUsable} from './leaves.ts'
import type {InitContext, InitPhase} from './phase.ts'

const leavesOf = async ({plane}: InitContext): Promise<LeafSpec[]> =>
  (await readCatalog(plane)).leaves.filter(({place}) => place.kind === 'kubeconfig')

const isWhole = (material: Partial<LeafMaterial> | undefined): material is Required<LeafMaterial> =>
  material?.certificatePem !== undefined &&
  material.keyPem !== undefined &&
  material.caPem !== undefined

/** If a kubeconfig has a valid certificate but points elsewhere, only its address is updated. */
async function repoint(store: LeafStore, {plane, tell}: InitContext, id: string): Promise<void> {
  const server = await serverOf(store.location)
  const material = await store.read()
  if (server === endpointOf(plane) || !isWhole(material)) return
  await store.write(material)
  tell(`"${id}" now points to ${endpointOf(plane)}`)
}

async function ensureKubeconfig(leaf: LeafSpec, context: InitContext): Promise<void> {
  const {plane} = context
  const authority = await findAuthority(plane, leaf.authority)
  if (!authority) {
    throw new TrustError('NOT_FOUND', `there is no CA "${leaf.authority}" to sign "${leaf.id}"`, {
      hints: [`run "${planeCommand(plane.dir, 'init phase certs')}" first`],
    })
  }
  await ensureCatalogLeaf(context, authority, leaf)
  await repoint(openStore(plane)(leaf.place), context, leaf.id)
}

export const kubeconfig: InitPhase = {
  name: 'kubeconfig',
  summary: 'write kubeconfigs for administrators and control plane',

  async plan(context) {
    const leaves = await leavesOf(context)
    const lines = await planLeaves(context, leaves)
    for (const {id, place} of leaves) {
      const server = await serverOf(openStore(context.plane)(place).location)
      const wanted = endpointOf(context.plane)
      if (server !== undefined && server !== wanted) lines.push(`point "${id}" to ${wanted}`)
    }
    return lines
  },

  async run(context) {
    const leaves = await leavesOf(context)
    await requireBroughtUsable(context, leaves)
    for (const leaf of leaves) await ensureKubeconfig(leaf, context)
  },
}
