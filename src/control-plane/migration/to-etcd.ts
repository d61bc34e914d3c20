import {rename} from 'node:fs/promises'
import {join} from 'node:path'
import {planeCommand} from '../plane-command.ts'
import {TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {ensureFolder, syncFolder} from '../../fs/folders.ts'
import {compareStores, copyStore, type StoreContent} from '../../storage/copy-store.ts'
import type {EtcdStorage} from '../../storage/etcd/etcd.ts'
import {
  incomplete,
  readMark,
  writeMark,
  type FoundMark,
  type MigrationMark,
} from '../../storage/etcd/migration-mark.ts'
import type {EtcdSettings} from '../../storage/etcd/settings.ts'
import {openStoreFile} from '../../storage/lmdb.ts'
import {removeStoreFile} from '../../storage/store-files.ts'
import type {VersionedStorage} from '../../storage/versioned-storage.ts'
import {stampOf, stuck} from '../backup/put-in-place.ts'
import {etcdOf} from '../config/etcd.ts'
import {fileOf, type Plane} from '../config/plane.ts'
import {savePlane} from '../config/stored.ts'
import type {MigrationContext, Moved} from './migrate.ts'
import {openEtcd} from './open-etcd.ts'

interface Copy {
  plane: Plane
  source: VersionedStorage
  instance: string
  target: EtcdStorage
  etcd: EtcdSettings
}

/**
 * Copies the embedded store of a control plane to etcd. Until `config.yaml` names etcd, its server starts as before; then not until the
 * old store is out of the way, which is the last step. If it is interrupted, the next run continues.
 */
export async function moveToEtcd(
  plane: Plane,
  {etcd, choices, clock, tell}: MigrationContext,
): Promise<Moved> {
  const data = fileOf(plane, 'data')
  if (!(await lookAt(data))) throw noStore(plane)
  const {storage: source, instance} = openStoreFile(data)
  let moved: Omit<Moved, 'kept'>
  try {
    const target = await openEtcd(etcd, tell)
    try {
      const next = {...plane, settings: {...plane.settings, ...choices}}
      moved = await fill({plane: next, source, instance, target, etcd})
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
  return {...moved, kept: await keepOld(plane, clock.now())}
}

async function fill(copy: Copy): Promise<Omit<Moved, 'kept'>> {
  const {plane, source, instance, target} = copy
  const sourceRevision = await source.revision()
  let found = await readMark(target)
  let content: StoreContent
  const isEmpty = (await target.list('/', {limit: 1})).entries.length === 0
  if (!isEmpty && found.mark?.state === 'serving' && found.mark.store === instance) {
    // Everything was copied: if nobody has changed it since, only the last steps are missing.
    content = await compareStores(source, target)
    await savePlane(plane)
  } else {
    requireOwnCopy(copy, found, isEmpty)
    const mark: MigrationMark = {state: 'copying', store: instance, offset: sourceRevision}
    found = await writeMark(target, mark, found)
    await copyStore(source, target)
    content = await compareStores(source, target)
    await savePlane(plane)
    found = await writeMark(target, {...mark, state: 'serving'}, found)
  }
  const offset = found.mark?.offset ?? 0
  return {...content, sourceRevision, revision: offset + (await target.revision())}
}

/** What is there may only be overwritten if it was copied from this store, or has moved to it. */
function requireOwnCopy(
  {instance, etcd: {prefix}}: Copy,
  {mark}: FoundMark,
  isEmpty: boolean,
): void {
  if (mark && mark.state !== 'serving' && mark.store === instance) return
  if (mark?.state === 'copying') throw incomplete(prefix)
  if (isEmpty) return
  throw new TrustError('CONFLICT', `etcd already has other keys below ${prefix}/`, {
    hints: [
      'nothing was changed: choose another --etcd-prefix',
      `or delete the keys, with everything stored in them: etcdctl del --prefix ${prefix}/`,
    ],
  })
}

/** With its store in the folder, a server on etcd does not start. */
async function keepOld(plane: Plane, now: Date): Promise<string> {
  const data = fileOf(plane, 'data')
  const kept = join(fileOf(plane, 'backups'), `store-${stampOf(now)}.mdb`)
  await ensureFolder(fileOf(plane, 'backups'))
  await rename(data, kept).catch((error: unknown) => {
    throw stuck(kept, error, [
      `everything is in etcd: remove the cause and run the command again, or move ${data} away yourself`,
    ])
  })
  removeStoreFile(data)
  await syncFolder(fileOf(plane, 'backups'))
  await syncFolder(fileOf(plane, 'store'))
  return kept
}

function noStore({dir, settings}: Plane): TrustError {
  if (etcdOf(settings))
    return new TrustError('CONFLICT', 'this control plane has its objects in etcd already', {
      hints: [`there is nothing to do: start its server with "${planeCommand(dir, 'start')}"`],
    })
  return new TrustError('NOT_FOUND', `there is no store in ${dir} yet`, {
    hints: [`run "${planeCommand(dir, 'init')}" with --etcd-servers instead`],
  })
}
