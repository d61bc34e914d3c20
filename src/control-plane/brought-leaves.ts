import {TrustError} from '../errors.ts'
import type {Authority} from '../pki/authority.ts'
import type {LeafSpec} from '../pki/catalog.ts'
import {lookAt} from '../fs/file-checks.ts'
import {viewLeaf} from '../pki/leaf-problems.ts'
import {catalogContext, neededNames, openStore} from './certificates.ts'
import {endpointOf, type Plane} from './config/plane.ts'
import {serverOf} from './kubeconfig-store.ts'
import {isAsMade, readMadeFiles} from './made-files.ts'

/** What there is to say about a leaf before it is kept or made. */
export interface LeafState {
  leaf: LeafSpec
  location: string
  /** The files of it that are there. */
  files: string[]
  /** Whether an operator brought what is there. */
  isBrought: boolean
  /** Why it cannot stay as it is. */
  problems: string[]
}

/** Whether a file was made here. An earlier version noted only which CAs it had made, and made every leaf below them. */
async function isOurs(plane: Plane, {authority}: LeafSpec, file: string): Promise<boolean> {
  const asMade = await isAsMade(plane, await readMadeFiles(plane), file)
  return asMade ?? plane.generatedAuthorities.includes(authority)
}

/** The files of a leaf that are there, and whether somebody brought one of them. */
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

/** A kubeconfig of ours is pointed to the right server; one that was brought is not written to. */
async function pointingProblems(plane: Plane, {place}: LeafSpec): Promise<string[]> {
  if (place.kind !== 'kubeconfig') return []
  const server = await serverOf(openStore(plane)(place).location)
  const wanted = endpointOf(plane)
  return server === undefined || server === wanted ? [] : [`it does not point to ${wanted}`]
}

/** Looks at a leaf: one of ours has to be as the catalog wants it, one that was brought has to work. */
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
  const {problems} = viewLeaf(await store.read(), {leaf, authority, now, names, isBrought})
  return {
    leaf,
    location,
    files,
    isBrought,
    problems: [...problems, ...(isBrought ? await pointingProblems(plane, leaf) : [])],
  }
}

/** Nothing that somebody brought is written over without being told to. */
export function requireReplaceable(states: readonly LeafState[]): void {
  const broken = states.filter(({isBrought, problems}) => isBrought && problems.length > 0)
  if (broken.length === 0) return
  const lines = broken.map(({location, problems}) => `${location}: ${problems.join('; ')}`)
  throw new TrustError(
    'CERTIFICATE_INVALID',
    `certificates that you brought do not work: ${lines.join(', ')}`,
    {
      facts: {certificates: broken.map(({location, problems}) => ({location, problems}))},
      hints: [
        'replace them with working ones',
        'or use --replace: it makes new ones and keeps yours in the folder "backups"',
      ],
    },
  )
}
