import {readdir, rm} from 'node:fs/promises'
import {TrustError} from '../../errors.ts'
import {lookAt, unwritable} from '../../fs/file-checks.ts'
import {readFileIfThere} from '../../fs/files.ts'
import {REVISION_BUMP} from '../../storage/build-store.ts'
import {contentOf} from '../../storage/copy-store.ts'
import {openStoreFile, storeRevision} from '../../storage/lmdb.ts'
import {etcdOf} from '../config/etcd.ts'
import {fileOf, FILES, type Plane} from '../config/plane.ts'
import {findPlane, loadPlane} from '../config/stored.ts'
import {exclusively} from '../exclusive.ts'
import {holdStopped} from '../hold-store.ts'
import {openEtcd, openOldEtcd, putIntoEtcd, type OldEtcd} from './etcd-store.ts'
import {isLeftOut, stagingOf} from './plane-files.ts'
import {
  asideOf,
  isHalfDone,
  putInPlace,
  requireOutside,
  requireReplaceable,
} from './put-in-place.ts'
import {type BackupContent, readBackup} from './read-backup.ts'
import {keepNewerLog, noteRestore} from './restored-log.ts'
import {instanceOf, stage, stageSettings} from './staging.ts'
import type {RestoreOptions, Restoring, StoreKind} from './staging.ts'

/** What `restore` prints. */
export interface RestoreReport {
  dir: string
  /** When the backup was made: what happened later is not in it. */
  createdAt: string
  /** Where the objects are now. */
  store: StoreKind
  /** How many objects and files were restored. */
  keys: number
  files: number
  /** The revision of the backup, and that of the restored store: the next write gets a higher one. Null without objects. */
  backupRevision: number
  revision: number | null
  /** Whether the store from before had exactly these objects, so that nothing is lost. */
  unchanged: boolean
  /** Where what was there before is; null if there was nothing. */
  kept: string | null
  /** The prefix of the keys in etcd that are not used any more. */
  leftPrefix: string | null
}

/** Restores a control plane from a backup, or a part of it. All of the backup is checked before anything is written. */
export async function restore(
  file: string,
  dir: string,
  options: RestoreOptions,
): Promise<RestoreReport> {
  const found = await readBackup(file, options.passphrase)
  // Before anybody stops a server for it.
  await plan(file, dir, found, options)
  const work = async () => {
    const release = await holdStopped(dir)
    try {
      return await restoreStopped(await plan(file, dir, found, options))
    } finally {
      await release()
    }
  }
  return await exclusively(dir, work, options.tell)
}

/** Refuses what cannot be restored there. */
async function plan(
  file: string,
  dir: string,
  found: BackupContent,
  options: RestoreOptions,
): Promise<Restoring> {
  const {kind, store: savedFrom = 'embedded'} = found.header
  const {only, force} = options
  if (kind === 'objects-only' && only === 'files')
    throw new TrustError('USAGE', `${file} contains no files, only objects`, {
      hints: ['leave out --files-only, or use a backup that was made without --objects-only'],
    })
  const files = kind === 'everything' && only !== 'objects'
  const objects = only !== 'files'
  const home = files ? dir : await homeOf(dir)
  if (files) {
    await requireOutside(file, dir)
    await requireReplaceable(dir, force)
  }
  const standing = files ? savedFrom : storeOf(await loadPlane(dir, home))
  const store = chooseStore(standing, options)
  return {...options, file, dir, found, files, objects, store, home}
}

const storeOf = ({settings}: Plane): StoreKind => (etcdOf(settings) ? 'etcd' : 'embedded')

function chooseStore(standing: StoreKind, {only, to, choices = {}}: RestoreOptions): StoreKind {
  const isChosen = Object.keys(choices).length > 0
  const store = to ?? (isChosen ? 'etcd' : standing)
  if (store === 'embedded' && isChosen)
    throw new TrustError('USAGE', 'there are flags about etcd, but --to embedded', {
      hints: ['leave out either'],
    })
  if (store === 'etcd' && standing !== 'etcd' && !choices.etcdServers)
    throw new TrustError('USAGE', 'neither a flag nor config.yaml names the servers of etcd', {
      hints: ['name them with --etcd-servers'],
    })
  if (only === 'files' && store === 'embedded')
    throw new TrustError('USAGE', 'the objects of this control plane are in its folder', {
      hints: ['leave out --files-only: they are restored with the files'],
    })
  return store
}

/** What alone is replaced if the files stay. */
const OF_OBJECTS = new Set<string>([FILES.config, FILES.store, FILES.restored])

/** Where the settings of a control plane are: an interrupted restore of its objects has moved them aside. */
async function homeOf(dir: string): Promise<string> {
  for (const aside of (await isHalfDone(dir)) ? await asideOf(dir) : []) {
    const names = await readdir(aside)
    if (!names.includes(FILES.config)) continue
    return names.every((name) => OF_OBJECTS.has(name)) ? aside : dir
  }
  return dir
}

async function restoreStopped(restoring: Restoring): Promise<RestoreReport> {
  const {dir, home, found, files, objects, store, clock} = restoring
  const wasHalf = await isHalfDone(dir)
  // A control plane that is to be replaced may be damaged. After an interruption, its etcd has been left already.
  const present = files ? await findPlane(dir).catch(() => undefined) : await loadPlane(dir, home)
  const etcd = present && objects && !wasHalf ? etcdOf(present.settings) : undefined
  const next = instanceOf(found)
  const old = present && etcd && (await openOldEtcd(present, etcd, {...restoring, next}))
  try {
    const prepared = await prepare(restoring, wasHalf, old)
    const names = files ? undefined : OF_OBJECTS
    const kept = await putInPlace(dir, clock.now(), {wasHalf, names})
    return {
      dir,
      createdAt: found.header.createdAt,
      store,
      keys: objects ? found.end.keys : 0,
      files: files ? found.end.files : 0,
      backupRevision: found.header.revision,
      revision: prepared.revision,
      unchanged: prepared.unchanged,
      kept,
      leftPrefix: prepared.isLeft && etcd ? etcd.prefix : null,
    }
  } finally {
    await old?.close()
  }
}

/** Everything but putting it in place. */
async function prepare(restoring: Restoring, wasHalf: boolean, old: OldEtcd | undefined) {
  const {dir, found, files, objects, force} = restoring
  const homes = wasHalf ? [dir, ...(await asideOf(dir))] : [dir]
  const staging = stagingOf(dir)
  try {
    const before = old ? {objects: await contentOf(old.storage, isLeftOut)} : await oldStore(homes)
    const unchanged = !objects || before?.objects === found.objects
    const mayReplace = files || force || wasHalf || unchanged
    if (before && !mayReplace) throw otherObjects(dir)
    const floor = await nextRevision(restoring, [staging, ...homes], await old?.storage.revision())
    await stage(restoring, floor)
    const {plane, etcd} = await stageSettings(restoring)
    let put: Awaited<ReturnType<typeof putIntoEtcd>> | undefined
    if (etcd && objects) {
      const target = await openEtcd(plane, etcd, restoring.tell)
      put = await putIntoEtcd(target, etcd.prefix, {
        file: fileOf({dir: staging}, 'data'),
        store: before?.instance ?? instanceOf(found),
        floor,
        hints: files ? [KEEP_OBJECTS] : [],
      }).finally(() => target.close())
      await rm(fileOf({dir: staging}, 'store'), {recursive: true})
    }
    const isLeft = await old?.leave(put?.mark, async () => {
      const isSame = (await contentOf(old.storage, isLeftOut)) === before?.objects
      if (!files && !force && !isSame) throw otherObjects(dir)
    })
    await note(restoring, homes)
    return {unchanged, revision: objects ? (put?.revision ?? floor) : null, isLeft}
  } catch (error) {
    // The folder stays the mark of a restore that was killed half way.
    if (!wasHalf) await rm(staging, {recursive: true, force: true}).catch(() => undefined)
    throw unwritable(dir, error)
  }
}

const KEEP_OBJECTS =
  'or, if these are the objects of this control plane and are to stay, use --files-only'

/** The embedded store from before; without anything known of it if it cannot be read. */
async function oldStore(
  homes: readonly string[],
): Promise<{instance?: string; objects?: string} | undefined> {
  for (const home of homes) {
    const data = fileOf({dir: home}, 'data')
    if (!(await lookAt(data))) continue
    try {
      const {storage, instance} = openStoreFile(data)
      return {instance, objects: await contentOf(storage, isLeftOut).finally(() => storage.close())}
    } catch {
      return {}
    }
  }
  return undefined
}

const otherObjects = (dir: string): TrustError =>
  new TrustError('ALREADY_EXISTS', `the store of ${dir} has other objects than the backup`, {
    hints: [
      'to lose none of them, stop all servers and make a new backup',
      `or replace them with --force: what is there is moved to a folder in ${fileOf({dir}, 'backups')}`,
    ],
  })

/** The line comes first: after a kill there may be one too many, but never a restored control plane without one. */
async function note(
  {dir, found, files, clock}: Restoring,
  homes: readonly string[],
): Promise<void> {
  const from = `from a backup of ${found.header.createdAt}`
  if (!files) return await noteRestore(dir, `restoring the objects ${from}`, clock)
  const isNewer = await keepNewerLog(dir, homes)
  const reason = `the control plane was restored ${from}${isNewer ? '; this log is newer than that' : ''}`
  await noteRestore(stagingOf(dir), reason, clock)
}

/**
 * Above every revision that a client of the stores before may know. If no store is left that can be read, nobody knows how far it was,
 * only that it was less than a billion above the backup or the restore before.
 */
async function nextRevision(
  {found: {header}, bumpRevision: bump = REVISION_BUMP}: Restoring,
  homes: readonly string[],
  inEtcd = 0,
): Promise<number> {
  const known = [inEtcd, ...homes.map(storeRevision)]
  const restored = await Promise.all(homes.map(restoredRevision))
  const places = await Promise.all(homes.map((dir) => lookAt(fileOf({dir}, 'config'))))
  const isLost = places.some(Boolean) && known.every((one) => one === 0)
  const base = Math.max(header.revision, ...known, ...restored)
  return base + (isLost ? Math.max(bump, REVISION_BUMP) : bump)
}

async function restoredRevision(dir: string): Promise<number> {
  const path = fileOf({dir}, 'restored')
  const content = await readFileIfThere(path)
  if (!content) return 0
  try {
    const {revision} = JSON.parse(content.toString()) as {revision?: unknown}
    if (typeof revision === 'number' && Number.isSafeInteger(revision)) return revision
  } catch {
    // As any other content that is no revision.
  }
  throw new TrustError('FILE_UNREADABLE', `${path} does not say which revision was restored last`, {
    hints: [`if no client of this control plane is left, remove ${path}`],
  })
}
