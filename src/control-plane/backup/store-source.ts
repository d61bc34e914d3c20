import {PassThrough} from 'node:stream'
import {TrustError, hasCode} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {lockHolder} from '../../fs/folder-lock.ts'
import type {Clock} from '../../runtime.ts'
import {openLmdbStorage} from '../../storage/lmdb.ts'
import {connectToSnapshots} from '../../storage/snapshot-socket.ts'
import {sendTo, writeSnapshot} from '../../storage/snapshot.ts'
import {VERSION} from '../../version.ts'
import {etcdOf} from '../config/etcd.ts'
import {fileOf, type Plane} from '../config/plane.ts'
import {findServerInTime} from '../server-state.ts'

/** What reads the archive of a store. */
export type ReadStore<Result> = (source: AsyncIterable<Buffer>) => Promise<Result>

/** The objects of a control plane on etcd are not in its folder: a backup without them would seem complete. */
export function requireEmbeddedStore({settings}: Plane, verb: 'restore' | 'save'): void {
  if (!etcdOf(settings)) return
  const tool = verb === 'save' ? 'etcdctl snapshot save' : 'etcdutl snapshot restore'
  throw new TrustError('CONFLICT', 'this control plane stores its objects in etcd', {
    hints: [`use "${tool}" for them, and copy the folder of the control plane`],
  })
}

/** Reads the store of a control plane as it is now: from the server that has it open, or else from its files. */
export async function readStore<Result>(
  plane: Plane,
  clock: Clock,
  read: ReadStore<Result>,
): Promise<Result> {
  requireEmbeddedStore(plane, 'save')
  const folder = fileOf(plane, 'store')
  const holder = await lockHolder(folder)
  if (holder) {
    const source = (await connectToSnapshots(folder)) ?? (await connectInTime(plane))
    if (!source) throw notServing(holder.pid)
    return await read(source).catch((error: unknown) => {
      throw hasCode(error, 'BACKUP_INVALID') ? endedEarly(error) : error
    })
  }
  if (!(await lookAt(fileOf(plane, 'data')))) {
    throw new TrustError('NOT_FOUND', `there is no store in ${plane.dir} yet`, {
      hints: ['start the server once with "trustadm start"'],
    })
  }
  return await readFiles(plane, clock, read)
}

/** A server that is starting offers its snapshots soon. */
async function connectInTime(plane: Plane): Promise<AsyncIterable<Buffer> | undefined> {
  await findServerInTime(plane)
  return await connectToSnapshots(fileOf(plane, 'store'))
}

async function readFiles<Result>(
  plane: Plane,
  clock: Clock,
  read: ReadStore<Result>,
): Promise<Result> {
  const storage = await openLmdbStorage(plane.dir)
  const pipe = new PassThrough()
  const about = {createdAt: clock.now().toISOString(), program: VERSION}
  const writing = writeSnapshot(storage, about, (bytes) => sendTo(pipe, bytes)).then(
    () => void pipe.end(),
    (error: unknown) => void pipe.destroy(error as Error),
  )
  try {
    return await read(pipe as AsyncIterable<Buffer>)
  } finally {
    pipe.destroy()
    await writing
    await storage.close()
  }
}

const endedEarly = (cause: unknown): TrustError =>
  new TrustError('SERVER_UNREACHABLE', 'the server ended before its snapshot was complete', {
    cause,
    hints: ['nothing was written: run the command again'],
  })

const notServing = (pid: number | undefined): TrustError =>
  new TrustError(
    'CONFLICT',
    `${pid === undefined ? 'the process' : `process ${pid}`} that uses the store offers no snapshot`,
    {
      hints: [
        'if the server is of an earlier version of trustadm, restart it with this one',
        'or stop it, then run the command again',
      ],
    },
  )
