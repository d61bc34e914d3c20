import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import type {Secret} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode, TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {recoverFolder, replaceFiles} from '../../fs/file-groups.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {ensureFolder} from '../../fs/folders.ts'
import {removeSecret} from '../../fs/shred.ts'
import {removeLeftovers} from '../../fs/temporary-names.ts'
import {SERVICE_ACCOUNT_KEYS} from '../../pki/catalog.ts'
import {isMatching, readPair} from '../../pki/pair-store.ts'
import {etcdOf} from '../config/etcd.ts'
import {certDirOf, type Plane, rotationFolder} from '../config/plane.ts'
import {ensurePlaneKey} from '../plane-key.ts'
import {notesOurs, type Which} from './generations.ts'
import type {Journal} from './journal.ts'
import {
  generationIn,
  isSharedPath,
  ROTATION_SECRET,
  sealRotation,
  type SharedRotation,
} from './sealed-rotation.ts'
import {readEtcdFiles} from './shared-etcd.ts'
import {targetOf} from './target.ts'
import {type Unit, unitFor, unitsOf} from './units.ts'

type Client = Pick<ApiClient, 'namespaces' | 'secrets'>

/** Whether other machines may have a server of this control plane: only an etcd can be shared. Also if they are off at the moment. */
export const isShared = ({settings}: Pick<Plane, 'settings'>): boolean =>
  etcdOf(settings) !== undefined

const ATTEMPTS = 5

/** Throws if this machine has not followed what another one has shared: it would undo that. */
export async function requireFollowed(
  {secrets}: Pick<Client, 'secrets'>,
  journal: Pick<Journal, 'shared'> | undefined,
): Promise<Secret | undefined> {
  const found = await secrets.find(ROTATION_SECRET)
  if (generationIn(found) <= (journal?.shared ?? 0)) return found
  throw new TrustError(
    'CONFLICT',
    'another machine of the control plane rotates the CAs at the moment, and this one has not followed it yet',
    {
      hints: [
        'see how far it is with "trustadm ca rotate status", then run the command again on one machine only',
        'if it does not follow, the log of its server says why',
      ],
    },
  )
}

/**
 * Hands the state of the rotation, with its CAs and keys, to the other servers. Returns the journal with the number of that, for the
 * caller to write; the caller holds the lock. Of two machines that do so at the same time, one gets an error.
 */
export async function share(client: Client, plane: Plane, journal: Journal): Promise<Journal> {
  const key = await ensurePlaneKey(plane)
  const {uid: cluster = ''} = (await client.namespaces.get(ROTATION_SECRET.namespace)).metadata
  for (let attempt = 1; ; attempt += 1) {
    const found = await requireFollowed(client, journal)
    const next = {...journal, shared: (journal.shared ?? 0) + 1}
    const secret = sealRotation(await readShared(plane, next), {key, cluster})
    try {
      // With the version that was found: what another machine has written in the meantime is not overwritten.
      if (found) await client.secrets.update({...secret, metadata: found.metadata})
      else await client.secrets.create(secret)
      return next
    } catch (error) {
      if (attempt === ATTEMPTS || !hasCode(error, 'CONFLICT', 'ALREADY_EXISTS')) throw error
    }
  }
}

type Files = Record<string, string>

const CROSS = 'cross.crt'
const REST = 'rest'
const isSecret = (name: string): boolean => name.endsWith('.key')

async function add(files: Files, path: string, source: string): Promise<void> {
  const content = await readFileIfThere(source, {secret: isSecret(path)})
  if (content) files[path] = content.toString()
}

/** Both generations, as they lie in the folder of the rotation. */
async function generationFiles(plane: Plane): Promise<Files> {
  const files: Files = {}
  const root = rotationFolder(plane)
  for (const which of ['old', 'new'] as const) {
    const folder = join(root, which)
    await recoverFolder(folder)
    const names = (await lookAt(folder)) ? await readdir(folder) : []
    // Not what somebody has left there, such as the backup of an editor.
    for (const name of names.filter((one) => isSharedPath(`${which}/${one}`)))
      await add(files, `${which}/${name}`, join(folder, name))
  }
  await add(files, CROSS, join(root, CROSS))
  return files
}

/** What is in use. */
async function filesInUse(
  plane: Plane,
  units: readonly Unit[],
  which: Which | 'rest',
): Promise<Files> {
  const files: Files = {}
  const certDir = certDirOf(plane)
  for (const {spec, id} of units) {
    const found = spec && (await readPair(certDir, spec.place))
    if (found?.certificatePem !== undefined) files[`${which}/${id}.crt`] = found.certificatePem
    if (found?.keyPem !== undefined) files[`${which}/${id}.key`] = found.keyPem
    if (spec) continue
    for (const name of [SERVICE_ACCOUNT_KEYS.privateKey, SERVICE_ACCOUNT_KEYS.publicKey])
      await add(files, `${which}/${name}`, join(certDir, name))
  }
  return files
}

/** What another machine needs to arrange its files as this one has. */
export async function readShared(plane: Plane, journal: Journal): Promise<SharedRotation> {
  const {arrange, removed} = targetOf(journal)
  const units = arrange ? journal.units.map((record) => unitFor(plane, record)) : []
  // Another rotation may have changed these while a server was off.
  const others = (await unitsOf(plane)).filter(({id}) => units.every((unit) => unit.id !== id))
  const forEtcd = Object.entries(await readEtcdFiles(plane, journal))
  const rest = {
    ...(await filesInUse(plane, others, REST)),
    ...Object.fromEntries(forEtcd.map(([name, text]) => [`${REST}/${name}`, text])),
  }
  if (!arrange) return {journal, files: rest}
  // Once a generation is destroyed, the other one is all that a server needs that was off all the time.
  const files =
    removed === undefined
      ? await generationFiles(plane)
      : await filesInUse(plane, units, removed === 'old' ? 'new' : 'old')
  return {journal, files: {...files, ...rest}}
}

/** The key of an external CA may be on this machine only: in use for as long as its certificate signs, then in the folder of the rotation. */
async function ownKey(
  plane: Plane,
  {spec, id}: Unit,
  files: Files,
  folder: string,
): Promise<string | undefined> {
  const certificatePem = files[`${id}.crt`]
  if (!spec || certificatePem === undefined || files[`${id}.key`] !== undefined) return undefined
  const inUse = await readPair(certDirOf(plane), spec.place)
  const kept = await readFileIfThere(join(folder, `${id}.key`), {secret: true})
  return [inUse?.keyPem, kept?.toString()].find(
    (keyPem) => keyPem !== undefined && isMatching({certificatePem, keyPem}),
  )
}

const idIn = (name: string): string => name.replace(/\.[a-z]+$/, '')

/** Writes one generation, all of its files at once. What an operator has provided here is not recorded as ours. */
async function writeGeneration(
  plane: Plane,
  which: Which,
  {files: all, journal}: SharedRotation,
  units: readonly Unit[],
): Promise<void> {
  const folder = join(rotationFolder(plane), which)
  const own = Object.entries(all).filter(([path]) => path.startsWith(`${which}/`))
  const files: Files = Object.fromEntries(own.map(([path, text]) => [path.slice(4), text]))
  if (own.length === 0) return
  await ensureFolder(folder)
  // A run that was killed may have left a group of files that it had not committed.
  await removeLeftovers(folder)
  await recoverFolder(folder)
  for (const unit of units) {
    const {id, spec} = unit
    const key = await ownKey(plane, unit, files, folder)
    if (key !== undefined) files[`${id}.key`] = key
    const places = spec ? [spec.place.crt, spec.place.key] : [SERVICE_ACCOUNT_KEYS.privateKey]
    const note = await notesOurs(plane, id, places)
    const names = Object.keys(files).filter((name) => idIn(name) === id)
    await note?.(names.map((name) => ({path: join(folder, name), data: files[name] ?? ''})))
  }
  const missing = new Map(Object.entries(files))
  const given = new Set(Object.keys(files).map(idIn))
  const isOver = targetOf(journal).removed !== undefined
  for (const name of await readdir(folder)) {
    const id = idIn(name)
    // By then the machine that rotates shares only the CAs that it uses itself.
    if (isOver && !given.has(id) && units.some((unit) => unit.id === id)) continue
    const path = join(folder, name)
    const content = await readFileIfThere(path, {secret: isSecret(name)})
    // What differs is of a rotation whose end this machine has missed.
    if (content?.toString() === files[name]) missing.delete(name)
    else await removeSecret(path)
  }
  const group = Array.from(missing, ([name, data]) => ({name, data}))
  if (group.length > 0) await replaceFiles(folder, 'generation', group)
}

/** Those of `readEtcdFiles`, on the machine that follows. */
export const etcdFilesIn = ({files}: SharedRotation): Files =>
  Object.fromEntries(
    Object.entries(files)
      .filter(([path]) => path.startsWith(`${REST}/`))
      .map(([path, text]) => [path.slice(REST.length + 1), text]),
  )

/** Writes both generations to the folder of the rotation, where the same steps find them as on the machine that has created them. */
export async function writeShared(
  plane: Plane,
  shared: SharedRotation,
  units: readonly Unit[],
): Promise<void> {
  await ensureFolder(rotationFolder(plane))
  await writeGeneration(plane, 'old', shared, units)
  await writeGeneration(plane, 'new', shared, units)
  const cross = shared.files[CROSS]
  if (cross !== undefined) await writeFileSafely(join(rotationFolder(plane), CROSS), cross)
}
