import {link, rename} from 'node:fs/promises'
import {join} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {unwritable} from '../../fs/file-errors.ts'
import {ensureFolder, syncFolder} from '../../fs/folders.ts'
import {buildStore} from '../../storage/build-store.ts'
import {removeStoreFile} from '../../storage/store-files.ts'
import {fileOf} from '../config/plane.ts'
import {loadPlane} from '../config/stored.ts'
import {exclusively} from '../exclusive.ts'
import {stampOf} from './put-in-place.ts'
import {readBackup, type BackupContent} from './read-backup.ts'
import {noteRestore} from './restored-log.ts'
import {
  changedMeanwhile,
  holdFolder,
  nextRevision,
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
  await ensureFolder(fileOf({dir}, 'store'))
  const path = join(fileOf({dir}, 'store'), 'new.mdb')
  const revision = nextRevision([dir], found.header, bumpRevision)
  const builder = await buildStore(path, revision)
  try {
    const {digest} = await readBackup(file, passphrase, {records: (more) => builder.add(more)})
    if (digest !== found.digest) throw changedMeanwhile(file)
    await builder.end()
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
  let kept: string | null = null
  if (await lookAt(data)) {
    await ensureFolder(fileOf({dir}, 'backups'))
    kept = join(fileOf({dir}, 'backups'), `store-${stampOf(now)}.mdb`)
    await link(data, kept)
    await syncFolder(fileOf({dir}, 'backups'))
  }
  await rename(path, data)
  removeStoreFile(path)
  await syncFolder(fileOf({dir}, 'store'))
  return kept
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
      const release = await holdFolder(dir)
      try {
        if (!options.force && (await lookAt(fileOf({dir}, 'data')))) throw hasStore(dir)
        const {path, revision} = await build(file, dir, found, options)
        const kept = await exchange(dir, path, options.clock.now())
        await noteRestore(
          dir,
          `the store was restored from a snapshot of ${createdAt}`,
          options.clock,
        )
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
