import {messageOf} from '../errors.ts'
import {isSameBundle} from '../pki/bundle.ts'
import type {LeafSpec} from '../pki/catalog.ts'
import type {LeafMaterial} from '../pki/pair-store.ts'
import type {Live} from '../trust/live.ts'
import {findFiles} from './brought-leaves.ts'
import {ALL_LEAVES, openStore} from './certificates.ts'
import type {Plane} from './config/plane.ts'
import {loadPlane} from './config/stored.ts'
import {exclusively} from './exclusive.ts'

const LEAVES = ALL_LEAVES.filter(({place}) => place.kind === 'kubeconfig')

/** The content of a kubeconfig whose CAs are outdated. One that is missing, or that an operator provided or changed, is left alone. */
async function findOutdated(
  plane: Plane,
  leaf: LeafSpec,
  bundle: string,
): Promise<LeafMaterial | undefined> {
  const {certificatePem, keyPem, caPem} = (await openStore(plane)(leaf.place).read()) ?? {}
  if (!certificatePem || !keyPem || !caPem || isSameBundle(caPem, bundle)) return undefined
  return (await findFiles(plane, leaf)).isBrought ? undefined : {certificatePem, keyPem}
}

/** Writes these CAs to the kubeconfigs of a control plane; certificates and keys stay. Returns the files that were written. The caller holds the lock. */
export async function writeBundles(plane: Plane, bundle: string): Promise<string[]> {
  const written: string[] = []
  for (const leaf of LEAVES) {
    const outdated = await findOutdated(plane, leaf, bundle)
    if (!outdated) continue
    const store = openStore(plane)(leaf.place)
    await store.write({...outdated, caPem: bundle})
    written.push(store.location)
  }
  return written
}

async function updateKubeconfigs(
  plane: Plane,
  bundle: string,
  signal: AbortSignal,
): Promise<string[]> {
  const found = await Promise.all(LEAVES.map((leaf) => findOutdated(plane, leaf, bundle)))
  if (found.every((one) => one === undefined)) return []
  // Waits for a command that is changing them; after that they may already be right, or point elsewhere.
  const update = async () => writeBundles(await loadPlane(plane.dir), bundle)
  return await exclusively(plane.dir, update, () => undefined, signal)
}

/** Keeps the CAs in the kubeconfigs of a control plane up to date. Returns a function that stops this. */
export function followKubeconfigs(
  plane: Plane,
  rootCa: Live<string>,
  log: (line: string) => void,
): () => Promise<void> {
  const stop = new AbortController()
  let work = Promise.resolve()
  const update = async () => {
    try {
      for (const file of await updateKubeconfigs(plane, rootCa.current, stop.signal))
        log(`${file} has the new CA bundle`)
    } catch (error) {
      if (!stop.signal.aborted)
        log(`error: the kubeconfigs still have the old CA bundle: ${messageOf(error)}`)
    }
  }
  const follow = () => {
    work = work.then(update)
  }
  const leave = rootCa.subscribe(follow)
  follow()
  return async () => {
    leave()
    stop.abort(new Error('the server is stopping'))
    await work
  }
}
