import {createHash} from 'node:crypto'
import {hostname} from 'node:os'
import {join} from 'node:path'
import {TrustError} from '../errors.ts'
import {lookAt} from '../fs/file-checks.ts'
import {lockFolder} from '../fs/folder-lock.ts'
import {ensureFolder} from '../fs/folders.ts'
import type {Storage} from '../storage/storage.ts'
import {etcdOf} from './config/etcd.ts'
import {certDirOf, fileOf, type Plane} from './config/plane.ts'

/** The etcd of a control plane, if it has one. If that does not respond, waits until it does. */
export async function openPlaneEtcd(
  plane: Plane,
  log: (line: string) => void,
): Promise<Storage | undefined> {
  const etcd = etcdOf(plane.settings)
  if (!etcd) return undefined
  await requireNoEmbeddedStore(plane)
  const {openEtcdStorage} = await import('../storage/etcd/open.ts')
  // As the embedded store does: two servers of one folder would be one to others.
  await ensureFolder(fileOf(plane, 'store'))
  const unlock = await lockFolder(fileOf(plane, 'store'))
  try {
    const storage = await openEtcdStorage(etcd, {tell: log, wait: true})
    return storage.closingWith(unlock)
  } catch (error) {
    await unlock()
    throw error
  }
}

/** This server among several on one etcd. It stays the same after a restart, so that what it held is its own again at once. */
export const identityOf = ({dir}: Plane): string =>
  `${hostname()}_${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`

/** Throws, with what to do about it, if the etcd of a control plane cannot be used. */
export async function requireEtcd(plane: Plane): Promise<void> {
  const etcd = etcdOf(plane.settings)
  if (!etcd) return
  await requireNoEmbeddedStore(plane)
  const {openEtcdStorage} = await import('../storage/etcd/open.ts')
  const storage = await openEtcdStorage(etcd, {patience: 5_000})
  try {
    const isNew = (await lookAt(join(certDirOf(plane), 'apiserver.crt'))) === undefined
    if (isNew && (await storage.list('/', {limit: 1})).entries.length > 0) throw inUse(etcd.prefix)
  } finally {
    await storage.close()
  }
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
        'or use another --dir for a new control plane on etcd',
      ],
    },
  )
}
