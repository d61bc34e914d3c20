import {PassThrough} from 'node:stream'
import {TrustError, hasCode} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {lockHolder} from '../../fs/folder-lock.ts'
import type {Clock} from '../../runtime.ts'
import type {EtcdStorage} from '../../storage/etcd/etcd.ts'
import {servable} from '../../storage/etcd/migration-mark.ts'
import type {EtcdSettings} from '../../storage/etcd/settings.ts'
import {openLmdbStorage} from '../../storage/lmdb.ts'
import {connectToSnapshots} from '../../storage/snapshot-socket.ts'
import {sendTo, writeSnapshot, type SnapshotSource} from '../../storage/snapshot.ts'
import type {Storage} from '../../storage/storage.ts'
import {VERSION} from '../../version.ts'
import {etcdOf} from '../config/etcd.ts'
import {fileOf, type Plane} from '../config/plane.ts'
import type {Tell} from '../exclusive.ts'
import {findServerInTime} from '../server-state.ts'
import {openEtcd} from './etcd-store.ts'

/** What reads the archive of a store. */
export type ReadStore<Result> = (source: AsyncIterable<Buffer>) => Promise<Result>

interface ReadOptions {
  clock: Clock
  tell?: Tell | undefined
}

/**
 * Reads the store of a control plane as it is now: from etcd; or from the server that has the embedded store open, or else from its
 * files.
 */
export async function readStore<Result>(
  plane: Plane,
  options: ReadOptions,
  read: ReadStore<Result>,
): Promise<Result> {
  const etcd = etcdOf(plane.settings)
  if (etcd) {
    const opened = await openEtcd(plane, etcd, options.tell)
    return await readFrom(opened, () => servableWithObjects(opened, etcd), options, read)
  }
  const folder = fileOf(plane, 'store')
  const holder = await lockHolder(folder)
  if (holder) {
    const source = (await connectToSnapshots(folder)) ?? (await connectInTime(plane))
    if (!source) throw notServing(holder.pid)
    return await read(source).catch((error: unknown) => {
      if (!hasCode(error, 'BACKUP_INVALID')) throw error
      throw error.facts.format === undefined ? endedEarly(error) : notServing(holder.pid)
    })
  }
  if (!(await lookAt(fileOf(plane, 'data')))) {
    throw new TrustError('NOT_FOUND', `there is no store in ${plane.dir} yet`, {
      hints: ['start the server once with "trustadm start"'],
    })
  }
  const opened = await openLmdbStorage(plane.dir)
  return await readFrom(opened, () => Promise.resolve(opened), options, read)
}

/** A wrong prefix must not become a backup without objects. */
async function servableWithObjects(opened: EtcdStorage, {prefix}: EtcdSettings): Promise<Storage> {
  const storage = await servable(opened, prefix)
  if ((await storage.list('/', {limit: 1})).entries.length > 0) return storage
  throw new TrustError('NOT_FOUND', `etcd has no objects below ${prefix}/`, {
    hints: ['check etcdServers and etcdPrefix in config.yaml, or start the server once'],
  })
}

/** A server that is starting offers them soon. */
async function connectInTime(plane: Plane): Promise<AsyncIterable<Buffer> | undefined> {
  await findServerInTime(plane)
  return await connectToSnapshots(fileOf(plane, 'store'))
}

async function readFrom<Result>(
  opened: Storage,
  source: () => Promise<SnapshotSource>,
  {clock}: ReadOptions,
  read: ReadStore<Result>,
): Promise<Result> {
  const pipe = new PassThrough()
  try {
    const about = {createdAt: clock.now().toISOString(), program: VERSION}
    const writing = writeSnapshot(await source(), about, (bytes) => sendTo(pipe, bytes)).then(
      () => void pipe.end(),
      (error: unknown) => void pipe.destroy(error as Error),
    )
    try {
      return await read(pipe as AsyncIterable<Buffer>)
    } finally {
      pipe.destroy()
      await writing
    }
  } finally {
    await opened.close()
  }
}

const endedEarly = (cause: unknown): TrustError =>
  new TrustError('SERVER_UNREACHABLE', 'the server ended before all its objects were sent', {
    cause,
    hints: ['nothing was written: run the command again'],
  })

const notServing = (pid: number | undefined): TrustError =>
  new TrustError(
    'CONFLICT',
    `${pid === undefined ? 'the process' : `process ${pid}`} that uses the store does not send its objects`,
    {
      hints: [
        'if the server is of an earlier version of trustadm, restart it with this one',
        'or stop it, then run the command again',
      ],
    },
  )
