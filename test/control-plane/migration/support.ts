import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'
import type {Plane} from '../../../src/control-plane/config/plane.ts'
import {loadPlane, savePlane} from '../../../src/control-plane/config/stored.ts'
import {
  migrateStore,
  type MigrationReport,
  type StoreKind,
} from '../../../src/control-plane/migration/migrate.ts'
import {openPlaneEtcd} from '../../../src/control-plane/plane-storage.ts'
import {systemClock} from '../../../src/runtime.ts'
import {openLmdbStorage} from '../../../src/storage/lmdb.ts'
import type {Storage} from '../../../src/storage/storage.ts'

const ignore = () => undefined

/** The folder of a control plane with some keys in its embedded store. */
export class MigratingPlane {
  readonly folder: string
  readonly servers: string[]
  readonly prefix: string

  private constructor(folder: string, servers: string[], prefix: string) {
    this.folder = folder
    this.servers = servers
    this.prefix = prefix
  }

  static async create(servers: string[], prefix: string, keys = 40): Promise<MigratingPlane> {
    const folder = await mkdtemp(join(tmpdir(), 'trustadm-migrate-'))
    const made = new MigratingPlane(folder, servers, prefix)
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

  migrate(from: StoreKind, to: StoreKind, clock = systemClock): Promise<MigrationReport> {
    const choices = {etcdServers: this.servers, etcdPrefix: this.prefix}
    return migrateStore(this.dir, {from, to, choices, clock, tell: ignore})
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
