import {rename} from 'node:fs/promises'
import {join} from 'node:path'
import type {Lease} from '../../api/coordination.ts'
import {TrustError} from '../../errors.ts'
import {lookAt, unwritable} from '../../fs/file-checks.ts'
import {ensureFolder, syncFolder} from '../../fs/folders.ts'
import type {Clock} from '../../runtime.ts'
import {buildStore} from '../../storage/build-store.ts'
import {compareStores, type StoreContent} from '../../storage/copy-store.ts'
import type {EtcdStorage} from '../../storage/etcd/etcd.ts'
import {
  type FoundMark,
  incomplete,
  type MigrationMark,
  moved,
  readMark,
  shifted,
  writeMark,
} from '../../storage/etcd/migration-mark.ts'
import {openStoreFile} from '../../storage/lmdb.ts'
import {pagesOf} from '../../storage/snapshot.ts'
import type {Storage} from '../../storage/storage.ts'
import {removeStoreFile} from '../../storage/store-files.ts'
import {stuck} from '../backup/put-in-place.ts'
import {fileOf, type Plane} from '../config/plane.ts'
import {savePlane} from '../config/stored.ts'
import {isServerLease, toServer} from '../server-identity.ts'
import type {MigrationContext, Moved} from './migrate.ts'
import {openEtcd} from './open-etcd.ts'

/** The store until it is complete; `reset` knows its name. */
const newFileOf = (plane: Plane): string => join(fileOf(plane, 'store'), 'new.mdb')

/**
 * Copies the objects of a control plane from etcd to its folder. The copy gets its name only once it is complete, and right before that
 * etcd says that they have moved: so no two servers can start on different stores. If it is interrupted, the next run continues.
 */
export async function moveToEmbedded(
  plane: Plane,
  {etcd, clock, tell}: MigrationContext,
): Promise<Moved> {
  await ensureFolder(fileOf(plane, 'store'))
  const opened = await openEtcd(etcd, tell)
  try {
    const found = await readMark(opened)
    if (found.mark?.state === 'copying') throw incomplete(etcd.prefix)
    const source = shifted(opened, found)
    await requireNoServers(source, clock)
    const ready = await readyCopy(plane, found.mark)
    if (!ready && found.mark?.state === 'moved') throw moved(etcd.prefix)
    const file = ready ?? (await build(plane, source))
    await compareWith(source, file)
    const check = async () => {
      await requireNoServers(source, clock)
      return await compareWith(source, file)
    }
    const content = await markMoved(opened, found, file, check)
    if (file !== fileOf(plane, 'data')) await putInPlace(plane, file)
    await savePlane(withoutEtcd(plane))
    return {...content, kept: null}
  } finally {
    await opened.close()
  }
}

/** The copy that an interrupted run had completed, if etcd says that the objects have moved to it. */
async function readyCopy(
  plane: Plane,
  mark: MigrationMark | undefined,
): Promise<string | undefined> {
  for (const file of [fileOf(plane, 'data'), newFileOf(plane)]) {
    if (!(await lookAt(file))) continue
    if (mark?.state === 'moved' && (await instanceOf(file)) === mark.store) return file
    if (file === fileOf(plane, 'data')) throw hasStore(file)
  }
  return undefined
}

async function instanceOf(file: string): Promise<string> {
  const {storage, instance} = openStoreFile(file)
  await storage.close()
  return instance
}

async function build(plane: Plane, source: Storage): Promise<string> {
  const file = newFileOf(plane)
  const revision = await source.revision()
  const builder = await buildStore(file, revision)
  try {
    for await (const entries of pagesOf(source)) {
      if (entries.some((entry) => entry.revision > revision)) throw written()
      await builder.add(entries)
    }
    await builder.end()
  } catch (error) {
    await builder.abandon()
    removeStoreFile(file)
    throw unwritable(file, error)
  }
  await syncFolder(fileOf(plane, 'store'))
  return file
}

async function compareWith(
  source: Storage,
  file: string,
): Promise<StoreContent & {sourceRevision: number; revision: number}> {
  const {storage} = openStoreFile(file)
  try {
    const content = await compareStores(source, storage, {revisions: true})
    const revision = await storage.revision()
    return {...content, sourceRevision: revision, revision}
  } finally {
    await storage.close()
  }
}

/** After the mark no server starts on etcd any more. One that started just before it may have written: then the mark is taken back. */
async function markMoved<Result>(
  storage: EtcdStorage,
  found: FoundMark,
  file: string,
  check: () => Promise<Result>,
): Promise<Result> {
  const offset = found.mark?.offset ?? 0
  const mark: MigrationMark = {state: 'moved', store: await instanceOf(file), offset}
  const written = found.mark?.state === 'moved' ? found : await writeMark(storage, mark, found)
  try {
    return await check()
  } catch (error) {
    await writeMark(storage, {...mark, state: 'serving'}, written)
    throw error
  }
}

async function putInPlace(plane: Plane, file: string): Promise<void> {
  const data = fileOf(plane, 'data')
  await rename(file, data).catch((error: unknown) => {
    throw stuck(data, error, ['remove the cause, then run the command again: it continues'])
  })
  removeStoreFile(file)
  await syncFolder(fileOf(plane, 'store'))
}

function withoutEtcd(plane: Plane): Plane {
  const settings = {...plane.settings}
  delete settings.etcdServers
  delete settings.etcdCaFile
  delete settings.etcdCertFile
  delete settings.etcdKeyFile
  delete settings.etcdPrefix
  return {...plane, settings}
}

const hasStore = (file: string): TrustError =>
  new TrustError('CONFLICT', `there is another store in ${file}`, {
    hints: ['nothing was changed: move it away, then run the command again'],
  })

const written = (): TrustError =>
  new TrustError('CONFLICT', 'somebody has written to etcd while it was copied', {
    hints: ['stop all servers of the control plane, then run the command again'],
  })

/** Where the API server keeps the Leases of its servers. */
const LEASES = '/registry/coordination.k8s.io/leases/kube-system/apiserver-'

/** Throws CONFLICT if a server has renewed its Lease lately: it would go on writing to a store that is being copied. */
export async function requireNoServers(
  storage: Pick<Storage, 'list'>,
  clock: Clock,
): Promise<void> {
  const now = clock.now()
  const {entries} = await storage.list(LEASES)
  const alive = entries
    .flatMap(({value}) => parseLease(value) ?? [])
    .filter(isServerLease)
    .map((lease) => toServer(lease, now))
    .find((server) => server.alive)
  if (!alive) return
  const where = alive.hostname === null ? '' : ` on ${alive.hostname}`
  throw new TrustError('CONFLICT', `a server${where} uses these keys in etcd`, {
    hints: [
      'stop all servers of the control plane with "trustadm stop", then run the command again',
      'one that was killed counts as running for 40 s',
    ],
    facts: {server: alive.name, hostname: alive.hostname},
  })
}

/** Undefined for what is no Lease: other programs may write there, too. */
function parseLease(value: Uint8Array): Lease | undefined {
  try {
    const lease = JSON.parse(Buffer.from(value).toString()) as Partial<Lease> | null
    return lease?.metadata ? (lease as Lease) : undefined
  } catch {
    return undefined
  }
}
