import {link, rename} from 'node:fs/promises'
import {join} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt, unwritable} from '../../fs/file-checks.ts'
import {ensureFolder, syncFolder} from '../../fs/folders.ts'
import type {Clock} from '../../runtime.ts'
import {buildStore} from '../../storage/build-store.ts'
import {removeStoreFile} from '../../storage/store-files.ts'
import {fileOf} from '../config/plane.ts'
import {loadPlane} from '../config/stored.ts'
import {exclusively} from '../exclusive.ts'
import {holdStopped} from '../hold-store.ts'
import {stampOf, stuck} from './put-in-place.ts'
import {readBackup, type BackupContent} from './read-backup.ts'
import {noteRestore} from './restored-log.ts'
import {
  changedMeanwhile,
  nextRevision,
  noteRevision,
  type RestoreOptions,
  type RestoreReport,
} from './restore.ts'
import {requireEmbeddedStore} from './store-source.ts'

/** Builds the store beside the one that is there; `reset` and the next restore know its name. */
async function build(
  file: string,
  dir: string,
  found: BackupContent,
  {passphrase, bumpRevision}: RestoreOptions,
): Promise<{path: string; revision: number}> {
  const path = join(fileOf({dir}, 'store'), 'new.mdb')
  const revision = await nextRevision([dir], found.header, bumpRevision)
  const builder = await buildStore(path, revision)
  try {
    const {digest} = await readBackup(file, passphrase, {records: (more) => builder.add(more)})
    if (digest !== found.digest) throw changedMeanwhile(file)
    await builder.end()
    await noteRevision(dir, revision)
  } catch (error) {
    await builder.abandon()
    removeStoreFile(path)
    throw unwritable(path, error)
  }
  return {path, revision}
}

/** The old store gets a second name before the new one takes its place: at no time is there none. */
async function exchange(dir: string, path: string, now: Date): Promise<string | null> {
  const data = fileOf({dir}, 'data')
  const hadStore = (await lookAt(data)) !== undefined
  const kept = hadStore ? join(fileOf({dir}, 'backups'), `store-${stampOf(now)}.mdb`) : null
  if (kept !== null) {
    await ensureFolder(fileOf({dir}, 'backups'))
    await link(data, kept).catch((error: unknown) => {
      throw stuck(kept, error, [
        `nothing was changed: remove the cause, or move ${data} away yourself, then run the command again`,
      ])
    })
    await syncFolder(fileOf({dir}, 'backups'))
  }
  await rename(path, data).catch((error: unknown) => {
    throw stuck(data, error, ['nothing was changed: remove the cause, then run the command again'])
  })
  removeStoreFile(path)
  await syncFolder(fileOf({dir}, 'store'))
  return kept
}

/** The line comes first: after a kill there may be one too many, but never a restored store without one. */
async function replaceStore(
  dir: string,
  path: string,
  createdAt: string,
  clock: Clock,
): Promise<string | null> {
  try {
    await noteRestore(dir, `restoring the store from a snapshot of ${createdAt}`, clock)
    return await exchange(dir, path, clock.now())
  } catch (error) {
    removeStoreFile(path)
    throw unwritable(fileOf({dir}, 'data'), error)
  }
}

/** Restores the store of an existing control plane; everything else stays. The server must not run. */
export async function restoreStore(
  file: string,
  dir: string,
  options: RestoreOptions,
): Promise<RestoreReport> {
  requireEmbeddedStore(await loadPlane(dir), 'restore')
  const found = await readBackup(file, options.passphrase)
  const {createdAt, revision: backupRevision} = found.header
  return await exclusively(
    dir,
    async () => {
      const release = await holdStopped(dir)
      try {
        if (!options.force && (await lookAt(fileOf({dir}, 'data')))) throw hasStore(dir)
        const {path, revision} = await build(file, dir, found, options)
        const kept = await replaceStore(dir, path, createdAt, options.clock)
        return {dir, createdAt, keys: found.keys, files: 0, backupRevision, revision, kept}
      } finally {
        await release()
      }
    },
    options.tell,
  )
}

const hasStore = (dir: string): TrustError =>
  new TrustError('ALREADY_EXISTS', `there is a store in ${dir} already`, {
    hints: [`replace it with --force: it is moved to ${fileOf({dir}, 'backups')}`],
  })
