import {TrustError} from '../errors.ts'
import type {Authority} from '../pki/authority.ts'
import type {LeafSpec} from '../pki/catalog.ts'
import {lookAt} from '../fs/file-checks.ts'
import {viewLeaf} from '../pki/leaf-problems.ts'
import {catalogContext, neededNames, openStore, rootsOf} from './certificates.ts'
import {endpointOf, type Plane} from './config/plane.ts'
import {serverOf} from './kubeconfig-store.ts'
import {isAsMade, readMadeFiles} from '../fs/made-files.ts'

/** The state of a leaf certificate before it is kept or created. */
export interface LeafState {
  leaf: LeafSpec
  location: string
  /** Its existing files. */
  files: string[]
  /** Whether an operator provided them. */
  isBrought: boolean
  /** Why it cannot be kept. */
  problems: string[]
}

/** Whether trustadm created a file. An earlier version recorded only the CAs that it had created, and created all leaves below them. */
async function isOurs(plane: Plane, {authority}: LeafSpec, file: string): Promise<boolean> {
  const asMade = await isAsMade(plane, await readMadeFiles(plane), file)
  return asMade ?? plane.generatedAuthorities.includes(authority)
}

/** The existing files of a leaf, and whether an operator provided one of them. */
export async function findFiles(
  plane: Plane,
  leaf: LeafSpec,
): Promise<Pick<LeafState, 'files' | 'isBrought'>> {
  const files: string[] = []
  let isBrought = false
  for (const file of openStore(plane)(leaf.place).files) {
    if (!(await lookAt(file))) continue
    files.push(file)
    isBrought ||= !(await isOurs(plane, leaf, file))
  }
  return {files, isBrought}
}

/** A kubeconfig of ours is updated to the right server; one that an operator provided is never written to. */
async function pointingProblems(plane: Plane, {place}: LeafSpec): Promise<string[]> {
  if (place.kind !== 'kubeconfig') return []
  const server = await serverOf(openStore(plane)(place).location)
  const wanted = endpointOf(plane)
  return server === undefined || server === wanted ? [] : [`it does not point to ${wanted}`]
}

/** Checks a leaf: one of ours must be as the catalog describes it, one that an operator provided must work. */
export async function stateOfLeaf(
  plane: Plane,
  authority: Authority | undefined,
  leaf: LeafSpec,
  now: Date,
): Promise<LeafState> {
  const store = openStore(plane)(leaf.place)
  const {files, isBrought} = await findFiles(plane, leaf)
  const {location} = store
  if (!authority) {
    return {leaf, location, files, isBrought, problems: [`its CA "${leaf.authority}" is missing`]}
  }
  const names = isBrought ? neededNames(plane, leaf) : leaf.names(catalogContext(plane))
  const caPem = await rootsOf(plane)
  const expected = {leaf, authority, now, names, isBrought, caPem}
  const {problems} = viewLeaf(await store.read(), expected)
  return {
    leaf,
    location,
    files,
    isBrought,
    problems: [...problems, ...(isBrought ? await pointingProblems(plane, leaf) : [])],
  }
}

/** What an operator provided is not overwritten without --replace. */
export function requireReplaceable(states: readonly LeafState[]): void {
  const broken = states.filter(({isBrought, problems}) => isBrought && problems.length > 0)
  if (broken.length === 0) return
  const lines = broken.map(({location, problems}) => `${location}: ${problems.join('; ')}`)
  throw new TrustError(
    'CERTIFICATE_INVALID',
    `certificates that you provided do not work: ${lines.join(', ')}`,
    {
      facts: {certificates: broken.map(({location, problems}) => ({location, problems}))},
      hints: [
        'replace them with working ones',
        'or use --replace: it creates new ones and moves yours to the folder "backups"',
      ],
    },
  )
}
