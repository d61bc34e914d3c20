import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'
import type {Plane} from '../../../src/control-plane/config/plane.ts'
import {loadPlane, savePlane} from '../../../src/control-plane/config/stored.ts'
import {backUp} from '../../../src/control-plane/backup/backup.ts'
import {restore, type RestoreReport} from '../../../src/control-plane/backup/restore.ts'
import type {RestoreOptions, StoreKind} from '../../../src/control-plane/backup/staging.ts'
import {openPlaneEtcd} from '../../../src/control-plane/plane-storage.ts'
import {systemClock} from '../../../src/runtime.ts'
import {openLmdbStorage} from '../../../src/storage/lmdb.ts'
import type {Storage} from '../../../src/storage/storage.ts'

const ignore = () => undefined

/** The folder of a control plane with some keys in its embedded store. */
export class MovingPlane {
  readonly folder: string
  readonly servers: string[]
  readonly prefix: string

  private constructor(folder: string, servers: string[], prefix: string) {
    this.folder = folder
    this.servers = servers
    this.prefix = prefix
  }

  static async create(servers: string[], prefix: string, keys = 40): Promise<MovingPlane> {
    const folder = await mkdtemp(join(tmpdir(), 'trustadm-moving-'))
    const made = new MovingPlane(folder, servers, prefix)
    await savePlane(await resolvePlane({dir: made.dir, flags: {bindPort: 1}}))
    const storage = await openLmdbStorage(made.dir)
    const numbers = Array.from({length: keys}, (_, index) => index)
    // Together, they share commits.
    await Promise.all(
      numbers.map((index) => storage.create(`/registry/${index}`, Buffer.from(`value ${index}`))),
    )
    const gone = await storage.create('/registry/gone', Buffer.from('1'))
    await storage.delete('/registry/gone', gone.revision)
    await storage.close()
    return made
  }

  get dir(): string {
    return join(this.folder, 'plane')
  }

  get file(): string {
    return join(this.folder, 'one.backup')
  }

  async save(objectsOnly = true): Promise<void> {
    await backUp(this.dir, this.file, {clock: systemClock, objectsOnly})
  }

  /** Restores what was saved. */
  restore(to: StoreKind, options: Partial<RestoreOptions> = {}): Promise<RestoreReport> {
    const choices = to === 'etcd' ? {etcdServers: this.servers, etcdPrefix: this.prefix} : {}
    return restore(this.file, this.dir, {to, choices, clock: systemClock, force: false, ...options})
  }

  async move(to: StoreKind, options: Partial<RestoreOptions> = {}): Promise<RestoreReport> {
    await this.save()
    return await this.restore(to, options)
  }

  plane(): Promise<Plane> {
    return loadPlane(this.dir)
  }

  /** The store that a server would use; throws as it would. */
  async served<Result>(use: (storage: Storage) => Promise<Result>): Promise<Result> {
    const storage =
      (await openPlaneEtcd(await this.plane(), ignore)) ?? (await openLmdbStorage(this.dir))
    try {
      return await use(storage)
    } finally {
      await storage.close()
    }
  }

  remove(): Promise<void> {
    return rm(this.folder, {recursive: true})
  }
}

/** All keys with their values, as text. */
export async function contentOf(storage: Storage): Promise<Record<string, string>> {
  const {entries} = await storage.list('')
  return Object.fromEntries(entries.map(({key, value}) => [key, Buffer.from(value).toString()]))
}
