import {readdir, rm, rmdir} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {systemCode} from '../errors.ts'
import {LEAVES, SERVICE_ACCOUNT_KEYS} from '../pki/catalog.ts'
import {lookAt} from '../fs/file-checks.ts'
import {recoverFolder} from '../fs/file-groups.ts'
import {requireSafeFolder} from '../fs/folders.ts'
import {removeSecret} from '../fs/shred.ts'
import {removeLeftovers} from '../fs/temporary-names.ts'
import {findUnit, type InstalledUnit, type RemovedUnit} from '../node/systemd-unit.ts'
import {openStore, specsOf} from './certificates.ts'
import {seenLogs} from '../server/authn/seen-log.ts'
import {certDirOf, fileOf, rotationFolder, type Plane} from './config/plane.ts'
import {exclusively, type Tell} from './exclusive.ts'
import {holdStore} from './hold-store.ts'
import {isAsMade, readMadeFiles} from '../fs/made-files.ts'
import {stopServer} from './server-process.ts'
import {PLANE_KEY_FILE} from './plane-key.ts'
import {ETCD_FILES} from './shared-certs.ts'
import {removeServerUnit} from './systemd.ts'
import {findServer, findServerInTime, type ServerState} from './server-state.ts'

export interface ResetPlan {
  /** The server that must be stopped first. */
  server: ServerState | undefined
  /** The systemd unit that `init` installed; null if there is none. */
  unit: InstalledUnit | null
  /** Existing files that trustadm created. */
  files: string[]
  /** Certificates and keys that an operator provided or changed: they stay. */
  kept: string[]
}

export interface ResetReport {
  stopped: number | null
  unit: RemovedUnit | null
  removed: string[]
  /** What is left in our folders, because trustadm did not create it. */
  kept: string[]
}

/** How processes take turns: locks, and what the writers of the issuance log put beside theirs. */
const TURN_FILE = /^lock\.\d+$|^lock-[0-9a-f]{8}$|^(?:wanted|writing)$/
const STORE_FILE = /^(data|new)\.mdb(-lock)?$|^snapshot\.sock$|^lock\.\d+$|^lock-[0-9a-f]{8}$/
/** In the folders of a rotation. */
const GENERATION_FILE = /\.(crt|key|pub)$/
const LOG_FILE =
  /^(?:(?:server|audit|issuance)\.log(?:\.\d+)?|audit(?:-anonymous|-controllers|-nodes|-serviceaccounts|-tokens)?(?:-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3})?\.log)$/

async function matching(folder: string, pattern: RegExp): Promise<string[]> {
  const names = (await lookAt(folder)) ? await readdir(folder) : []
  return names.filter((name) => pattern.test(name)).map((name) => join(folder, name))
}

/** Existing certificates, keys and kubeconfigs, and whether trustadm created each. */
async function pkiFiles(plane: Plane): Promise<{file: string; isOurs: boolean}[]> {
  const certDir = certDirOf(plane)
  const made = await readMadeFiles(plane)
  const found: {file: string; isOurs: boolean}[] = []
  /** An earlier version recorded only the CAs that it had created, and created all leaves below them; about other keys nothing is known. */
  const look = async (files: readonly string[], authority?: string) => {
    const wasNoted = authority !== undefined && plane.generatedAuthorities.includes(authority)
    const there: string[] = []
    for (const file of files) if (await lookAt(file)) there.push(file)
    const states = await Promise.all(there.map((file) => isAsMade(plane, made, file)))
    // A pair of which an operator provided one half belongs to the operator.
    const isOurs = states.every((state) => state ?? wasNoted)
    found.push(...there.map((file) => ({file, isOurs})))
  }
  for (const {id, place} of specsOf(plane)) {
    await look([join(certDir, place.crt), join(certDir, place.key)], id)
  }
  for (const {place, authority} of LEAVES) {
    await look(openStore(plane)(place).files, authority)
  }
  // Separately: trustadm may have created the public half for a private one that an operator provided.
  for (const name of [SERVICE_ACCOUNT_KEYS.privateKey, SERVICE_ACCOUNT_KEYS.publicKey]) {
    await look([join(certDir, name)])
  }
  await look(Object.values(ETCD_FILES).map((name) => join(certDir, name)))
  await look([join(certDir, PLANE_KEY_FILE)])
  return found
}

/** The folders of a rotation of the CAs, the inner ones first. */
function rotationFolders(plane: Plane): string[] {
  const root = rotationFolder(plane)
  return [join(root, 'old'), join(root, 'new'), root, join(certDirOf(plane), 'archive')]
}

/** What a rotation has kept of a CA that an operator provided may be the only copy of its key. */
async function rotationFiles(plane: Plane): Promise<{file: string; isOurs: boolean}[]> {
  const [old = '', ...others] = rotationFolders(plane)
  const made = await readMadeFiles(plane)
  const kept = await Promise.all(
    (await matching(old, GENERATION_FILE)).map(async (file) => {
      // As above, public keys count separately.
      const pair = file.endsWith('.pub')
        ? [file]
        : ['.crt', '.key'].map((end) => file.replace(GENERATION_FILE, end))
      const id = basename(file).replace(GENERATION_FILE, '')
      const there = await Promise.all(pair.map(async (one) => ((await lookAt(one)) ? [one] : [])))
      const states = await Promise.all(there.flat().map((one) => isAsMade(plane, made, one)))
      const wasNoted = plane.generatedAuthorities.includes(id)
      return {file, isOurs: states.every((state) => state ?? wasNoted)}
    }),
  )
  const found = (
    await Promise.all(others.map((folder) => matching(folder, GENERATION_FILE)))
  ).flat()
  // Only a rotation writes to its folders, and it keeps a journal. The archive is older, and may be in a folder of an operator.
  const isRotating = (await lookAt(fileOf(plane, 'rotation'))) !== undefined
  const isOf = (file: string) => file.startsWith(join(rotationFolder(plane), '/'))
  const rest = found.map(async (file) => ({
    file,
    isOurs: (isRotating && isOf(file)) || (await isAsMade(plane, made, file)) === true,
  }))
  return [...kept, ...(await Promise.all(rest))]
}

export async function planReset(plane: Plane): Promise<ResetPlan> {
  const rotation = await rotationFiles(plane)
  const pki = [...(await pkiFiles(plane)), ...rotation.filter(({isOurs}) => !isOurs)]
  const candidates = [
    ...rotation.filter(({isOurs}) => isOurs).map(({file}) => file),
    fileOf(plane, 'restoring'),
    fileOf(plane, 'restored'),
    fileOf(plane, 'rotation'),
    ...(await matching(fileOf(plane, 'store'), STORE_FILE)),
    ...(await matching(fileOf(plane, 'logs'), LOG_FILE)),
    ...pki.filter(({isOurs}) => isOurs).map(({file}) => file),
    fileOf(plane, 'server'),
    fileOf(plane, 'startFailure'),
    fileOf(plane, 'unitNote'),
    fileOf(plane, 'issuanceKey'),
    `${fileOf(plane, 'issuanceKey')}.new`,
    fileOf(plane, 'seenClients'),
    ...seenLogs(fileOf(plane, 'seenClients')),
    // These last: until they are gone, `reset` can be run again.
    fileOf(plane, 'manifest'),
    fileOf(plane, 'config'),
  ]
  const files: string[] = []
  for (const file of candidates) if (await lookAt(file)) files.push(file)
  const kept = pki.filter(({isOurs}) => !isOurs).map(({file}) => file)
  const unit = (await findUnit(fileOf(plane, 'unitNote'))) ?? null
  return {server: await findServer(plane), unit, files, kept}
}

async function removeIfEmpty(folder: string): Promise<string[]> {
  try {
    await rmdir(folder)
    return []
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    if (systemCode(error) !== 'ENOTEMPTY' && systemCode(error) !== 'EEXIST') throw error
    return (await readdir(folder)).map((name) => join(folder, name))
  }
}

/** The folder for the files of an etcd, if we made some of them: another owner has rules of its own. */
const etcdFolders = async (plane: Plane): Promise<string[]> => {
  const folder = join(certDirOf(plane), 'etcd')
  const files = await pkiFiles(plane)
  return files.some(({file, isOurs}) => isOurs && dirname(file) === folder) ? [folder] : []
}

const foldersOf = async (plane: Plane): Promise<string[]> => [
  fileOf(plane, 'store'),
  fileOf(plane, 'logs'),
  ...rotationFolders(plane),
  ...(await etcdFolders(plane)),
  certDirOf(plane),
  fileOf(plane, 'issuanceLock'),
  fileOf(plane, 'lock'),
  plane.dir,
]

/** Stops the server and removes what trustadm wrote, and nothing else. */
export async function reset(plane: Plane, tell?: Tell): Promise<ResetReport> {
  const folders = await foldersOf(plane)
  for (const folder of folders) if (await lookAt(folder)) await requireSafeFolder(folder)

  const done = await exclusively(plane.dir, () => removeFiles(plane), tell)
  for (const name of ['store', 'issuanceLock', 'lock'] as const) {
    const pattern = name === 'store' ? STORE_FILE : TURN_FILE
    for (const lock of await matching(fileOf(plane, name), pattern)) await rm(lock, {force: true})
  }
  const left: string[] = []
  for (const folder of folders) left.push(...(await removeIfEmpty(folder)))
  // A folder that stays because it is not empty is covered by its content.
  return {...done, kept: left.filter((path) => !folders.includes(path))}
}

/** What a restore that was killed has left: copies of all keys, too. Only trustadm writes to it. */
async function removeStaging(folder: string): Promise<void> {
  if ((await lookAt(folder))?.isDirectory()) {
    const entries = await readdir(folder, {recursive: true, withFileTypes: true})
    for (const entry of entries) {
      const isSecret = entry.isFile() && entry.name.endsWith('.key')
      if (isSecret) await removeSecret(join(entry.parentPath, entry.name))
    }
  }
  await rm(folder, {recursive: true, force: true})
}

async function removeFiles(plane: Plane): Promise<Omit<ResetReport, 'kept'>> {
  const running = await findServerInTime(plane)
  const unit = (await removeServerUnit(plane)) ?? null
  // One that systemd stops is in no file any more, but may still use the store.
  const server = (await findServer(plane)) ?? running
  if (server) await stopServer(plane, server)
  const release = await holdStore(plane.dir)
  const etcd = await etcdFolders(plane)
  try {
    for (const folder of [plane.dir, certDirOf(plane), ...rotationFolders(plane), ...etcd]) {
      if (!(await lookAt(folder))) continue
      await recoverFolder(folder)
      await removeLeftovers(folder)
    }
    const {files} = await planReset(plane)
    const generations = join(rotationFolder(plane), '/')
    for (const file of files) {
      if (file === fileOf(plane, 'restoring')) {
        await removeStaging(file)
        continue
      }
      // Elsewhere, a key may be a link to the file of an operator.
      const isSecret = file.startsWith(generations) && file.endsWith('.key')
      await (isSecret ? removeSecret(file) : rm(file, {force: true}))
    }
    return {stopped: running?.pid ?? null, unit, removed: files}
  } finally {
    await release()
  }
}
