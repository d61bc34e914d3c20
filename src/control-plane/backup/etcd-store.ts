import type {Lease} from '../../api/coordination.ts'
import {hasCode, TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {contentOf, copyStore} from '../../storage/copy-store.ts'
import type {EtcdStorage} from '../../storage/etcd/etcd.ts'
import {
  incomplete,
  moved,
  readMark,
  shifted,
  writeMark,
  type FoundMark,
  type MigrationMark,
} from '../../storage/etcd/migration-mark.ts'
import {openEtcdStorage} from '../../storage/etcd/open.ts'
import type {EtcdSettings} from '../../storage/etcd/settings.ts'
import {openStoreFile} from '../../storage/lmdb.ts'
import type {Storage} from '../../storage/storage.ts'
import type {Plane} from '../config/plane.ts'
import {explained} from '../etcd-wait.ts'
import type {Tell} from '../exclusive.ts'
import {isServerLease, toServer} from '../server-identity.ts'

/** Says first what it waits for: an etcd that does not respond is tried for seconds. */
export async function openEtcd(
  plane: Plane,
  etcd: EtcdSettings,
  tell: Tell = () => undefined,
): Promise<EtcdStorage> {
  tell(`connecting to etcd at ${etcd.servers.join(', ')}`)
  return await openEtcdStorage(etcd, {tell}).catch((error: unknown) => {
    throw explained(plane, error)
  })
}

export interface NewObjects {
  /** The store file that has them. */
  file: string
  /** Whose they are: a copy that was interrupted, or had moved to that store, may be overwritten. */
  store: string
  /** The next write gets a higher revision. */
  floor: number
  /** What else the error says if etcd has other keys. */
  hints: readonly string[]
}

/**
 * Gives etcd the objects of a store file, and no others. The mark beside them keeps servers from starting before all of them are there
 * and have been compared. If it is interrupted, the next run continues.
 */
export async function putIntoEtcd(
  target: EtcdStorage,
  prefix: string,
  {file, store, floor, hints}: NewObjects,
): Promise<{mark: FoundMark; revision: number}> {
  const {storage: source} = openStoreFile(file)
  try {
    let found = await readMark(target)
    const objects = await contentOf(source)
    const isServing = found.mark?.state === 'serving'
    if (!isServing || (await contentOf(target)) !== objects) {
      await requireOwnCopy(target, prefix, {found, store, hints})
      const offset = Math.max(floor, found.mark?.offset ?? 0)
      const mark: MigrationMark = {state: 'copying', store, offset}
      found = await writeMark(target, mark, found)
      await copyStore(source, target)
      if ((await contentOf(target)) !== objects) throw differing(prefix)
      found = await writeMark(target, {...mark, state: 'serving'}, found)
    }
    return {mark: found, revision: await shifted(target, found).revision()}
  } finally {
    await source.close()
  }
}

/** What is there may only be overwritten if it was copied for this store, or has moved to it. */
async function requireOwnCopy(
  target: EtcdStorage,
  prefix: string,
  {found: {mark}, store, hints}: Pick<NewObjects, 'store' | 'hints'> & {found: FoundMark},
): Promise<void> {
  if (mark && mark.state !== 'serving' && mark.store === store) return
  if (mark?.state === 'copying') throw incomplete(prefix)
  if ((await target.list('/', {limit: 1})).entries.length === 0) return
  throw new TrustError('CONFLICT', `etcd already has other keys below ${prefix}/`, {
    hints: [
      'nothing was changed: choose another --etcd-prefix',
      ...hints,
      `or delete the keys, with everything stored in them: etcdctl del --prefix ${prefix}/`,
    ],
  })
}

const differing = (prefix: string): TrustError =>
  new TrustError('CONFLICT', `the objects below ${prefix}/ in etcd are not those of the backup`, {
    hints: ['see that nothing else writes there, then run the command again'],
  })

/** The etcd that a control plane is about to leave. */
export interface OldEtcd {
  storage: Storage
  /**
   * After this no server starts on it any more. One that started just before it may have written: if `check` fails, all is as before.
   * Nothing is left if `target` is the same etcd, by whatever address.
   */
  leave(target: FoundMark | undefined, check: () => Promise<void>): Promise<boolean>
  close(): Promise<void>
}

/** `next` is the store that the objects go to. Throws CONFLICT if a server uses them. */
export async function openOldEtcd(
  plane: Plane,
  etcd: EtcdSettings,
  {next, clock, tell}: {next: string; clock: Clock; tell?: Tell | undefined},
): Promise<OldEtcd> {
  const {prefix} = etcd
  const opened = await openEtcd(plane, etcd, tell).catch((error: unknown) => {
    throw hasCode(error, 'STORE_UNREACHABLE') ? unreachable(plane, error) : error
  })
  try {
    const found = await readMark(opened)
    const {mark} = found
    if (mark?.state === 'copying' && mark.store !== next) throw incomplete(prefix)
    if (mark?.state === 'moved' && mark.store !== next) throw moved(prefix)
    const storage = shifted(opened, found)
    await requireNoServers(storage, clock)
    return {
      storage,
      async leave(target, check) {
        const now = await readMark(opened)
        if (now.revision === target?.revision && now.run === target.run) return false
        const gone: MigrationMark = {state: 'moved', store: next, offset: mark?.offset ?? 0}
        const written = now.mark?.state === 'moved' ? now : await writeMark(opened, gone, found)
        try {
          await requireNoServers(storage, clock)
          await check()
          return true
        } catch (error) {
          await writeMark(opened, {...gone, ...mark, state: 'serving'}, written)
          throw error
        }
      },
      close: () => opened.close(),
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

const unreachable = ({dir}: Plane, cause: TrustError): TrustError =>
  new TrustError('STORE_UNREACHABLE', cause.message, {
    cause,
    hints: [
      ...cause.hints,
      `this etcd must learn that its objects move; if it is gone for good, restore to another folder, or remove its settings from config.yaml in ${dir} first`,
    ],
  })

/** Where the API server keeps the Leases of its servers. */
const LEASES = '/registry/coordination.k8s.io/leases/kube-system/apiserver-'

/** Throws CONFLICT if a server has renewed its Lease lately: it would go on writing to a store that is left. */
async function requireNoServers(storage: Pick<Storage, 'list'>, clock: Clock): Promise<void> {
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
