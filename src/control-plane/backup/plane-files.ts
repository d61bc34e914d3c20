import {readdir, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {recoverFolder} from '../../fs/file-groups.ts'
import {invalidArchive} from '../../storage/archive-frames.ts'
import {certDirOf, FILES, fileOf, type Plane} from '../config/plane.ts'

/** A file of a control plane: its name in a backup, and where it is. */
export interface PlaneFile {
  name: string
  path: string
}

const MEGABYTE = 2 ** 20
const MOST_FILES = 10_000
const DEEPEST = 8
const LONGEST_NAME = 1024
/** Certificates and keys have these names in a backup, wherever their folder is. */
const PKI = 'pki/'

/** The files beside certificates and kubeconfigs, and how large each may be. */
const SINGLE: Readonly<Record<string, number>> = {
  [FILES.config]: MEGABYTE,
  [FILES.manifest]: MEGABYTE,
  [FILES.rotation]: MEGABYTE,
  [FILES.issuanceKey]: MEGABYTE,
  [`${FILES.issuanceKey}.new`]: MEGABYTE,
  [FILES.seenClients]: 16 * MEGABYTE,
  [FILES.issuances]: 64 * 1024 * MEGABYTE,
}

const isKubeconfig = (name: string): boolean => /^[^./][^/]*\.conf$/.test(name)

const isBelowPki = (name: string): boolean =>
  name.startsWith(PKI) &&
  name.split('/').length <= DEEPEST &&
  // Neither hidden nor a way out of the folder.
  name.split('/').every((part) => part !== '' && !part.startsWith('.'))

/** The most bytes of a file of this name; throws for a name that is none of a control plane. */
export function sizeLimitOf(name: string): number {
  const isPlain = name.length <= LONGEST_NAME && !/[\0\\]/.test(name)
  const limit = Object.hasOwn(SINGLE, name) ? SINGLE[name] : undefined
  if (isPlain && limit !== undefined) return limit
  if (isPlain && (isKubeconfig(name) || isBelowPki(name))) return MEGABYTE
  throw invalidArchive('it contains a file that is none of a control plane')
}

export const requireFewFiles = (count: number): void => {
  if (count > MOST_FILES) throw invalidArchive(`it contains more than ${MOST_FILES} files`)
}

async function filesBelow(folder: string, name: string): Promise<PlaneFile[]> {
  const found: PlaneFile[] = []
  for (const part of (await readdir(folder)).sort()) {
    if (part.startsWith('.')) continue
    const file = {name: `${name}${part}`, path: join(folder, part)}
    // Keys may be links to files of an operator: what they contain counts.
    const stats = await stat(file.path)
    if (stats.isDirectory()) found.push(...(await filesBelow(file.path, `${file.name}/`)))
    else if (stats.isFile()) found.push(file)
  }
  return found
}

/** What a backup contains besides the store. The caller holds the lock of the control plane. */
export async function planeFiles(plane: Plane): Promise<PlaneFile[]> {
  const certDir = certDirOf(plane)
  await recoverFolder(certDir)
  const top = (await readdir(plane.dir)).filter(isKubeconfig).sort()
  const single: PlaneFile[] = []
  for (const name of [...Object.keys(SINGLE), ...top]) {
    const path = join(plane.dir, name)
    if (await lookAt(path)) single.push({name, path})
  }
  const files = [...single, ...((await lookAt(certDir)) ? await filesBelow(certDir, PKI) : [])]
  for (const {name, path} of files) {
    if ((await stat(path)).size > sizeLimitOf(name)) throw tooLarge(path)
  }
  return files
}

const tooLarge = (path: string): TrustError =>
  new TrustError('FILE_UNSAFE', `${path} is too large for a backup`, {
    hints: ['move it out of the folder of the control plane, then run the command again'],
  })

/** The folder that a restore builds everything in before it takes its place. */
export const stagingOf = (dir: string): string => fileOf({dir}, 'restoring')
