import {readdir, stat} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {recoverFolder} from '../../fs/file-groups.ts'
import {invalidArchive} from '../../storage/archive-frames.ts'
import {certDirOf, FILES, fileOf, type Plane} from '../config/plane.ts'
import {CERTS_SECRET} from '../shared-certs.ts'

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
  [FILES.seenClients]: 64 * MEGABYTE,
  [FILES.issuances]: 64 * 1024 * MEGABYTE,
}

/** Kubeconfigs, and the CAs of added signers, which operators put beside them. */
const isAtTop = (name: string): boolean => /^[^./][^/]*\.(?:conf|crt|key|pem)$/.test(name)

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
  if (isPlain && (isAtTop(name) || isBelowPki(name))) return MEGABYTE
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

/** What a backup contains besides the store, and what it cannot contain. */
export interface PlaneFiles {
  files: PlaneFile[]
  /** What the settings name outside of the folders of the control plane. */
  leftOut: string[]
}

/** The caller holds the lock of the control plane. */
export async function planeFiles(plane: Plane): Promise<PlaneFiles> {
  const certDir = certDirOf(plane)
  await recoverFolder(certDir)
  const top = (await readdir(plane.dir)).filter(isAtTop).sort()
  const single: PlaneFile[] = []
  for (const name of new Set([...Object.keys(SINGLE), ...top])) {
    const path = join(plane.dir, name)
    // A link counts as what it leads to, as below.
    if ((await lookAt(path)) && (await stat(path)).isFile()) single.push({name, path})
  }
  const files = [...single, ...((await lookAt(certDir)) ? await filesBelow(certDir, PKI) : [])]
  if (files.length > MOST_FILES) throw tooMany(plane)
  for (const {name, path} of files) {
    if ((await stat(path)).size > sizeLimitOf(name)) throw tooLarge(path)
  }
  return {files, leftOut: await namedElsewhere(plane, files)}
}

/** The CAs that the settings name, and the files for etcd. */
function namedFiles({dir, settings}: Plane): string[] {
  const {signers, clusterSigning, etcdCaFile, etcdCertFile, etcdKeyFile} = settings
  const pairs = [clusterSigning?.files, ...Object.values(clusterSigning?.filesOf ?? {}), ...signers]
  return [
    ...pairs.flatMap((pair) => (pair ? [pair.certificate, pair.key] : [])),
    ...[etcdCaFile, etcdCertFile, etcdKeyFile].filter((path) => path !== undefined),
  ].map((path) => resolve(dir, path))
}

/**
 * The named files that a backup leaves out. One in the folder itself is an error: a restore moves it aside, and without it the server
 * would not start again.
 */
async function namedElsewhere(plane: Plane, files: readonly PlaneFile[]): Promise<string[]> {
  const included = new Set(files.map(({path}) => path))
  const leftOut = new Set<string>()
  for (const path of namedFiles(plane)) {
    if (included.has(path)) continue
    if (!path.startsWith(join(plane.dir, '/'))) leftOut.add(path)
    else if (await lookAt(path)) throw wouldBeMissing(plane, path)
  }
  return [...leftOut]
}

const wouldBeMissing = (plane: Plane, path: string): TrustError =>
  new TrustError('CONFLICT', `the settings name ${path}, which a backup would leave out`, {
    hints: [`move it to ${certDirOf(plane)}, and name it there in ${fileOf(plane, 'config')}`],
  })

const tooMany = (plane: Plane): TrustError =>
  new TrustError('FILE_UNSAFE', `there are more than ${MOST_FILES} files for a backup`, {
    hints: [`move what is not of the control plane out of ${certDirOf(plane)}`],
  })

const tooLarge = (path: string): TrustError =>
  new TrustError('FILE_UNSAFE', `${path} is too large for a backup`, {
    hints: ['move it out of the folder of the control plane, then run the command again'],
  })

/** The CAs with their keys, which `init --upload-certs` puts there for two hours: for whoever has the certificate key. */
const CERTS = `/registry/core/secrets/${CERTS_SECRET.namespace}/${CERTS_SECRET.name}`

/** What a backup of the objects alone does not have. */
export const isLeftOut = (key: string): boolean => key === CERTS

/** The folder that a restore builds everything in before it takes its place. */
export const stagingOf = (dir: string): string => fileOf({dir}, 'restoring')
