import {constants} from 'node:fs'
import {type FileHandle, open, rm} from 'node:fs/promises'
import {dirname, isAbsolute, join, relative} from 'node:path'
import {shellWord} from '../../client/printable.ts'
import {TrustError} from '../../errors.ts'
import {lookAt, unwritable} from '../../fs/file-checks.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {ensureFolder, syncFolder} from '../../fs/folders.ts'
import type {Clock} from '../../runtime.ts'
import type {ArchiveHeader} from '../../storage/archive-frames.ts'
import {buildStore, REVISION_BUMP} from '../../storage/build-store.ts'
import {storeRevision} from '../../storage/lmdb.ts'
import {fileOf} from '../config/plane.ts'
import {loadPlane, savePlane} from '../config/stored.ts'
import {exclusively, type Tell} from '../exclusive.ts'
import {holdStopped} from '../hold-store.ts'
import {stagingOf} from './plane-files.ts'
import {
  asideOf,
  emptyFolder,
  isHalfDone,
  putInPlace,
  requireOutside,
  requireReplaceable,
} from './put-in-place.ts'
import {type BackupContent, type BackupSink, readBackup} from './read-backup.ts'
import {keepNewerLog, noteRestore} from './restored-log.ts'

/** What `restore` and `store snapshot restore` print. */
export interface RestoreReport {
  dir: string
  /** When the backup was made: what happened later is not in it. */
  createdAt: string
  keys: number
  files: number
  /** The revision of the backup, and that of the restored store: the next write gets a higher one. */
  backupRevision: number
  revision: number
  /** Where what was there before is; null if there was nothing. */
  kept: string | null
}

export interface RestoreOptions {
  clock: Clock
  passphrase?: Buffer | undefined
  /** Whether to replace what is there; it is kept aside. */
  force: boolean
  bumpRevision?: number | undefined
  tell?: Tell | undefined
}

/**
 * Above every revision that a client of the stores before may know. If no store is left that can be read, nobody knows how far it was,
 * only that it was less than a billion above the backup or the restore before.
 */
export async function nextRevision(
  homes: readonly string[],
  {revision}: BackupContent['header'],
  bump = REVISION_BUMP,
): Promise<number> {
  const known = homes.map(storeRevision)
  const restored = await Promise.all(homes.map(restoredRevision))
  const places = await Promise.all(homes.map((dir) => lookAt(fileOf({dir}, 'config'))))
  const isLost = places.some(Boolean) && known.every((one) => one === 0)
  const base = Math.max(revision, ...known, ...restored)
  return base + (isLost ? Math.max(bump, REVISION_BUMP) : bump)
}

/** Outside of the store, so that it is known when that is damaged or gone. */
export const noteRevision = (dir: string, revision: number): Promise<unknown> =>
  writeFileSafely(fileOf({dir}, 'restored'), `${JSON.stringify({revision})}\n`)

async function restoredRevision(dir: string): Promise<number> {
  const content = await readFileIfThere(fileOf({dir}, 'restored'))
  if (!content) return 0
  try {
    const {revision} = JSON.parse(content.toString()) as {revision?: unknown}
    if (typeof revision === 'number' && Number.isSafeInteger(revision)) return revision
  } catch {
    // As any other content that is no revision.
  }
  const path = fileOf({dir}, 'restored')
  throw new TrustError('FILE_UNREADABLE', `${path} does not say which revision was restored last`, {
    hints: [`if no client of this control plane is left, remove ${path}`],
  })
}

/** Writes the files of a backup below a folder; `close` closes one that is not complete. */
function fileWriter(folder: string) {
  let handle: FileHandle | undefined
  const close = async () => {
    await handle?.close()
    handle = undefined
  }
  const file: NonNullable<BackupSink['file']> = async (name) => {
    const path = join(folder, name)
    await ensureFolder(dirname(path))
    const {O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY} = constants
    const opened = await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600)
    handle = opened
    return {
      write: (bytes) => opened.appendFile(bytes),
      async end() {
        await opened.sync()
        await close()
        await syncFolder(dirname(path))
      },
    }
  }
  return {file, close}
}

/** Builds the whole control plane in its staging folder. */
async function stage(
  file: string,
  dir: string,
  {found, homes}: {found: BackupContent; homes: readonly string[]},
  {passphrase, bumpRevision}: RestoreOptions,
): Promise<number> {
  const staging = stagingOf(dir)
  await emptyFolder(staging)
  const store = fileOf({dir: staging}, 'store')
  await ensureFolder(store)
  const revision = await nextRevision(homes, found.header, bumpRevision)
  const builder = await buildStore(fileOf({dir: staging}, 'data'), revision)
  const {file: onFile, close} = fileWriter(staging)
  try {
    const read = await readBackup(file, passphrase, {
      records: (records) => builder.add(records),
      file: onFile,
    })
    if (read.digest !== found.digest) throw changedMeanwhile(file)
    await builder.end()
  } catch (error) {
    await close()
    await builder.abandon()
    throw error
  }
  await rm(`${fileOf({dir: staging}, 'data')}-lock`, {force: true})
  await syncFolder(store)
  await rebase(staging, dir, found.header)
  await noteRevision(staging, revision)
  return revision
}

export const changedMeanwhile = (file: string): TrustError =>
  new TrustError('CONFLICT', `${file} was changed while it was read`, {
    hints: ['nothing was changed: run the command again'],
  })

/** Restores a control plane from a backup. All of the backup is checked before anything is written. */
export async function restorePlane(
  file: string,
  dir: string,
  options: RestoreOptions,
): Promise<RestoreReport> {
  const found = await readBackup(file, options.passphrase)
  const {kind, createdAt, revision: backupRevision} = found.header
  if (kind !== 'control-plane') {
    throw new TrustError('USAGE', `${file} contains a store, but no control plane`, {
      hints: [`restore it with "trustadm store snapshot restore ${shellWord(file)}"`],
    })
  }
  await requireOutside(file, dir)
  await requireReplaceable(dir, options.force)
  return await exclusively(
    dir,
    async () => {
      await requireReplaceable(dir, options.force)
      const release = await holdStopped(dir)
      try {
        const wasHalf = await isHalfDone(dir)
        const now = options.clock.now()
        const revision = await prepare(file, dir, {found, wasHalf}, options)
        const kept = await putInPlace(dir, now, wasHalf)
        const {keys, files} = found
        return {dir, createdAt, keys, files, backupRevision, revision, kept}
      } finally {
        await release()
      }
    },
    options.tell,
  )
}

async function prepare(
  file: string,
  dir: string,
  {found, wasHalf}: {found: BackupContent; wasHalf: boolean},
  options: RestoreOptions,
): Promise<number> {
  try {
    const homes = wasHalf ? [dir, ...(await asideOf(dir))] : [dir]
    const revision = await stage(file, dir, {found, homes}, options)
    const isNewer = await keepNewerLog(dir, homes)
    const reason = `the control plane was restored from a backup of ${found.header.createdAt}${isNewer ? '; this log is newer than that' : ''}`
    await noteRestore(stagingOf(dir), reason, options.clock)
    return revision
  } catch (error) {
    // The folder stays the mark of a restore that was killed half way.
    if (!wasHalf) await rm(stagingOf(dir), {recursive: true, force: true}).catch(() => undefined)
    throw unwritable(dir, error)
  }
}

/** The part of a path below a folder; undefined if it is elsewhere. */
function below(folder: string, path: string): string | undefined {
  const part = relative(folder, path)
  return part.startsWith('..') || isAbsolute(part) ? undefined : part
}

/** Replaces paths in the settings, however deep. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapTexts(one, map)]))
}

/**
 * Adapts settings and the list of created files to the folder that a control plane is restored to. Its certificates and keys are in
 * `pki` of that folder from now on, wherever they were.
 */
async function rebase(
  staging: string,
  dir: string,
  {dir: oldDir = dir, certificatesDir: oldCertDir = join(oldDir, 'pki')}: ArchiveHeader,
): Promise<void> {
  const certDir = join(dir, 'pki')
  if (oldDir === dir && oldCertDir === certDir) return
  const moved = (path: string): string => {
    if (!isAbsolute(path)) return path
    const inCerts = below(oldCertDir, path)
    if (inCerts !== undefined) return join(certDir, inCerts)
    const inDir = below(oldDir, path)
    return inDir === undefined ? path : join(dir, inDir)
  }
  const plane = await loadPlane(staging)
  const settings = mapTexts(plane.settings, moved) as typeof plane.settings
  await savePlane({...plane, settings: {...settings, certificatesDir: certDir}})
  await relabel(staging, (label) => {
    const path = moved(join(isAbsolute(label) ? '/' : oldDir, label))
    return below(dir, path) ?? path
  })
}

async function relabel(staging: string, labelOf: (label: string) => string): Promise<void> {
  const path = fileOf({dir: staging}, 'manifest')
  const content = await readFileIfThere(path)
  if (!content) return
  const {files} = JSON.parse(content.toString()) as {files: Record<string, unknown>}
  const entries = Object.entries(files).map(([label, hashes]) => [labelOf(label), hashes])
  const document = {files: Object.fromEntries(entries) as unknown}
  await writeFileSafely(path, `${JSON.stringify(document, null, 2)}\n`)
}
