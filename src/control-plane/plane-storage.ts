import {createHash} from 'node:crypto'
import {hostname} from 'node:os'
import {join} from 'node:path'
import {TrustError} from '../errors.ts'
import {lookAt} from '../fs/file-checks.ts'
import {lockFolder} from '../fs/folder-lock.ts'
import {ensureFolder} from '../fs/folders.ts'
import {STORE_TIMEOUT} from '../server/registry/memory-age.ts'
import type {Storage} from '../storage/storage.ts'
import {etcdOf, unencryptedWarning} from './config/etcd.ts'
import {certDirOf, fileOf, type Plane} from './config/plane.ts'
import {findPlane} from './config/stored.ts'
import {explained, waitingFor} from './etcd-wait.ts'

/**
 * The etcd of a control plane, if it has one. If that does not respond, waits until it does. `onMoved` is called if the objects are moved
 * to another store later.
 */
export async function openPlaneEtcd(
  plane: Plane,
  log: (line: string) => void,
  onMoved?: (reason: unknown) => void,
): Promise<Storage | undefined> {
  const etcd = etcdOf(plane.settings)
  if (!etcd) {
    await requireOwnStore(plane)
    return undefined
  }
  await requireNoEmbeddedStore(plane)
  for (const warning of unencryptedWarning(plane.settings)) log(`warning: ${warning}`)
  const {openEtcdStorage} = await import('../storage/etcd/open.ts')
  const {servable} = await import('../storage/etcd/migration-mark.ts')
  // As the embedded store does: two servers of one folder would be one to others.
  await ensureFolder(fileOf(plane, 'store'))
  const unlock = await lockFolder(fileOf(plane, 'store'))
  try {
    const wait = waitingFor(plane, log)
    const opened = await openEtcdStorage(etcd, {
      tell: log,
      wait: wait.tell,
      patience: plane.settings.storeTimeout ?? STORE_TIMEOUT,
    })
    await wait.end()
    try {
      const storage = await servable(opened, etcd.prefix, onMoved)
      await requireSharedStore(plane, storage, etcd.prefix)
      opened.closingWith(unlock)
      return storage
    } catch (error) {
      await opened.close()
      throw error
    }
  } catch (error) {
    await unlock()
    throw error
  }
}

/** This server among several on one etcd. It stays the same after a restart, so that what it held is its own again at once. */
export function identityOf({dir, settings}: Plane): string {
  // Many machines are called localhost, and have the same folder.
  const {nodeName, advertiseAddress, bindPort} = settings
  const own = JSON.stringify([dir, nodeName, advertiseAddress, bindPort])
  return `${hostname()}_${createHash('sha256').update(own).digest('hex').slice(0, 16)}`
}

/** Throws, with what to do about it, if the etcd of a control plane cannot be used. */
export async function requireEtcd(plane: Plane): Promise<void> {
  const etcd = etcdOf(plane.settings)
  if (!etcd) return await requireOwnStore(plane)
  await requireNoEmbeddedStore(plane)
  const {openEtcdStorage} = await import('../storage/etcd/open.ts')
  const {servable} = await import('../storage/etcd/migration-mark.ts')
  const storage = await openEtcdStorage(etcd, {patience: 5_000}).catch((error: unknown) => {
    throw explained(plane, error)
  })
  try {
    await servable(storage, etcd.prefix)
    if ((await isNewOn(plane)) && !plane.joinedControlPlane && !(await isEmpty(storage)))
      throw inUse(etcd.prefix)
    await requireSharedStore(plane, storage, etcd.prefix)
  } finally {
    await storage.close()
  }
}

/** Whether it had no server on etcd yet: it has no certificate for one, or its saved settings do not name etcd. */
async function isNewOn(plane: Plane): Promise<boolean> {
  if (!(await lookAt(join(certDirOf(plane), 'apiserver.crt')))) return true
  const saved = await findPlane(plane.dir)
  return saved !== undefined && etcdOf(saved.settings) === undefined
}

const isEmpty = async (storage: Storage): Promise<boolean> =>
  (await storage.list('/', {limit: 1})).entries.length === 0

/** On a store of its own, a machine that has joined would be another, empty cluster with the same CAs. */
async function requireOwnStore(plane: Plane): Promise<void> {
  if (!plane.joinedControlPlane || (await lookAt(fileOf(plane, 'data'))) !== undefined) return
  throw new TrustError(
    'CONFLICT',
    'this machine has joined a control plane, and does not know its store; with one of its own it would be another, empty cluster with the same CAs',
    {
      hints: [
        'if the other machines use etcd, run "trustadm init" with their --etcd-servers and --etcd-prefix, or set both in config.yaml',
        'if they have the embedded store, only one of them can have a server',
      ],
    },
  )
}

async function requireSharedStore(plane: Plane, storage: Storage, prefix: string): Promise<void> {
  if (!plane.joinedControlPlane || !(await isEmpty(storage))) return
  throw new TrustError(
    'CONFLICT',
    `this machine has joined a control plane, but etcd has no keys of one below ${prefix}/; it would be another, empty cluster with the same CAs`,
    {hints: ['set etcdServers and etcdPrefix in config.yaml as on the other machines']},
  )
}

/** A new control plane would take over the tokens and roles of an old one. */
const inUse = (prefix: string): TrustError =>
  new TrustError('CONFLICT', `etcd already has keys of a control plane below ${prefix}/`, {
    hints: [
      'choose another --etcd-prefix',
      'or restore the folder of that control plane, and run "trustadm serve"',
      `or delete the keys, with everything stored in them: etcdctl del --prefix ${prefix}/`,
    ],
  })

/** Everything in it would seem to be gone. */
async function requireNoEmbeddedStore(plane: Plane): Promise<void> {
  if ((await lookAt(fileOf(plane, 'data'))) === undefined) return
  throw new TrustError(
    'CONFLICT',
    `${fileOf(plane, 'store')} holds the objects of this control plane; with --etcd-servers they would not be served`,
    {
      hints: [
        'leave out --etcd-servers to keep the embedded store',
        'or back them up, and restore them to etcd with "trustadm restore --to etcd"',
        'or use another --dir for a new control plane on etcd',
      ],
    },
  )
}
