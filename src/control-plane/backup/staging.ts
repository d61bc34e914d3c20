import {constants} from 'node:fs'
import {type FileHandle, open, rm} from 'node:fs/promises'
import {dirname, isAbsolute, join, relative} from 'node:path'
import {isDeepStrictEqual} from 'node:util'
import {hasCode, TrustError} from '../../errors.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {ensureFolder, syncFolder} from '../../fs/folders.ts'
import {readManifest} from '../../fs/made-files.ts'
import type {Clock} from '../../runtime.ts'
import type {ArchiveHeader} from '../../storage/archive-frames.ts'
import {buildStore} from '../../storage/build-store.ts'
import {contentOf} from '../../storage/copy-store.ts'
import type {EtcdSettings} from '../../storage/etcd/settings.ts'
import {openStoreFile} from '../../storage/lmdb.ts'
import {etcdOf, requireEncryption, withOwnFiles} from '../config/etcd.ts'
import {certDirOf, fileOf, type Plane} from '../config/plane.ts'
import type {Choices, Settings} from '../config/settings.ts'
import {loadPlane, savePlane} from '../config/stored.ts'
import type {Tell} from '../exclusive.ts'
import {isLeftOut, stagingOf} from './plane-files.ts'
import {emptyFolder} from './put-in-place.ts'
import {readBackup, type BackupContent, type BackupSink} from './read-backup.ts'

export type StoreKind = NonNullable<ArchiveHeader['store']>

export interface RestoreOptions {
  clock: Clock
  passphrase?: Buffer | undefined
  /** Whether to replace what is there; it is kept aside. */
  force: boolean
  bumpRevision?: number | undefined
  only?: 'files' | 'objects' | undefined
  /** Where the objects are to be; absent: as the settings say. */
  to?: StoreKind | undefined
  /** The flags about etcd. */
  choices?: Choices | undefined
  tell?: Tell | undefined
}

/** A restore that is under way. */
export interface Restoring extends RestoreOptions {
  file: string
  dir: string
  found: BackupContent
  /** What of the backup is restored. */
  files: boolean
  objects: boolean
  /** Where the objects are to be. */
  store: StoreKind
  /** Where the settings are, unless they are in the backup. */
  home: string
}

/** Writes the files of a backup below a folder; `close` closes one that is not complete. */
function fileWriter(folder: string) {
  let handle: FileHandle | undefined
  let path = ''
  const close = async () => {
    await handle?.close()
    handle = undefined
  }
  const files: BackupSink['files'] = {
    async begin(name) {
      path = join(folder, name)
      await ensureFolder(dirname(path))
      const {O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY} = constants
      handle = await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600)
    },
    write: async (bytes) => await handle?.appendFile(bytes),
    async end() {
      await handle?.sync()
      await close()
      await syncFolder(dirname(path))
    },
  }
  return {files, close}
}

/** A store that is restored from the same backup again is the same. */
export const instanceOf = ({end}: BackupContent): string => end.sha256

/** Builds what is restored in the staging folder of a control plane, with a store at the revision, and compares that with the backup. */
export async function stage(restoring: Restoring, revision: number): Promise<void> {
  const {file, dir, found, passphrase} = restoring
  const staging = stagingOf(dir)
  await emptyFolder(staging)
  const data = fileOf({dir: staging}, 'data')
  if (restoring.objects) await ensureFolder(dirname(data))
  const builder = restoring.objects
    ? await buildStore(data, revision, instanceOf(found))
    : undefined
  const {files, close} = fileWriter(staging)
  try {
    const read = await readBackup(file, passphrase, {
      ...(builder && {records: (records) => builder.add(records)}),
      ...(restoring.files && {files}),
    })
    if (read.end.sha256 !== found.end.sha256) throw changedMeanwhile(file)
    await builder?.end()
  } catch (error) {
    await close()
    await builder?.abandon()
    throw error
  }
  if (!builder) return
  const {storage} = openStoreFile(data)
  const objects = await contentOf(storage, isLeftOut)
  await storage.close()
  if (objects !== found.objects) throw changedMeanwhile(file)
  await rm(`${data}-lock`, {force: true})
  await syncFolder(dirname(data))
  // Outside of the store, so that it is known when that is damaged or gone.
  await writeFileSafely(fileOf({dir: staging}, 'restored'), `${JSON.stringify({revision})}\n`)
}

const changedMeanwhile = (file: string): TrustError =>
  new TrustError('CONFLICT', `${file} was changed while it was read`, {
    hints: ['nothing was changed: run the command again'],
  })

/** Adapts the settings to the folder and the store. Returns the control plane, and how its etcd is reached until all is in place. */
export async function stageSettings({
  dir,
  found: {header},
  files,
  store,
  home,
  choices = {},
}: Restoring): Promise<{plane: Plane; etcd: EtcdSettings | undefined}> {
  const staging = stagingOf(dir)
  const source = files ? staging : home
  const plane = await loadPlane(dir, source)
  const moves = files ? movesOf(dir, header) : []
  const standing = mapPaths(plane.settings, moves)
  if (files) standing.certificatesDir = join(dir, 'pki')
  const certDir = files ? join(staging, 'pki') : certDirOf(plane)
  const chosen = mapPaths(await withOwnFiles(certDir, choices), [[staging, dir]])
  const settings = store === 'embedded' ? withoutEtcd(standing) : {...standing, ...chosen}
  requireEncryption(settings, standing)
  if (!isDeepStrictEqual(settings, plane.settings))
    await savePlane({...plane, dir: staging, settings})
  else if (!files) {
    const content = await readFileIfThere(fileOf({dir: home}, 'config'))
    await writeFileSafely(fileOf({dir: staging}, 'config'), content ?? '')
  }
  if (files) await relabel(staging, dir, header)
  return {plane, etcd: etcdOf(files ? mapPaths(settings, [[dir, staging]]) : settings)}
}

function withoutEtcd(standing: Settings): Settings {
  const settings = {...standing}
  delete settings.etcdServers
  delete settings.etcdCaFile
  delete settings.etcdCertFile
  delete settings.etcdKeyFile
  delete settings.etcdPrefix
  return settings
}

type Moves = readonly (readonly [from: string, to: string])[]

/** Certificates and keys are in `pki` of the folder from now on, wherever they were. */
const movesOf = (
  dir: string,
  {dir: oldDir = dir, certificatesDir = join(oldDir, 'pki')}: ArchiveHeader,
): Moves => [
  [certificatesDir, join(dir, 'pki')],
  [oldDir, dir],
]

/** The part of a path below a folder; undefined if it is elsewhere. */
function below(folder: string, path: string): string | undefined {
  const part = relative(folder, path)
  return part.startsWith('..') || isAbsolute(part) ? undefined : part
}

/** Where a path is after the first of the moves that concerns it. */
function movedPath(path: string, moves: Moves): string {
  const move = moves.find(([from]) => isAbsolute(path) && below(from, path) !== undefined)
  return move ? join(move[1], relative(move[0], path)) : path
}

/** Replaces paths in settings, however deep. */
function mapPaths<Value>(value: Value, moves: Moves): Value {
  const map = (one: unknown): unknown => {
    if (typeof one === 'string') return movedPath(one, moves)
    if (Array.isArray(one)) return one.map(map)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, part]) => [name, map(part)]))
  }
  return map(value) as Value
}

/** The list of created files has paths, too: those in the folder relative to it. */
async function relabel(staging: string, dir: string, header: ArchiveHeader): Promise<void> {
  // A damaged list comes back as it was: whoever needs it says what to do.
  const found = await readManifest({dir: staging}).catch((error: unknown) => {
    if (!hasCode(error, 'CONFIG_INVALID')) throw error
  })
  if (!found) return
  const entries = Object.entries(found.files).map(([label, hashes]) => {
    const old = join(isAbsolute(label) ? '/' : (header.dir ?? dir), label)
    const moved = movedPath(old, movesOf(dir, header))
    return [below(dir, moved) ?? moved, hashes] as const
  })
  const document = {files: Object.fromEntries(entries)}
  await writeFileSafely(
    fileOf({dir: staging}, 'manifest'),
    `${JSON.stringify(document, null, 2)}\n`,
  )
}
