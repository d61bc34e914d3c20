import {planeCommand} from '../plane-command.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import type {StoreContent} from '../../storage/copy-store.ts'
import type {EtcdSettings} from '../../storage/etcd/settings.ts'
import {etcdOf, withOwnFiles} from '../config/etcd.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import type {Choices} from '../config/settings.ts'
import {loadPlane} from '../config/stored.ts'
import {exclusively, type Tell} from '../exclusive.ts'
import {holdStopped} from '../hold-store.ts'

export type StoreKind = 'embedded' | 'etcd'

export interface MigrationOptions {
  from: StoreKind
  to: StoreKind
  /** The flags about etcd. */
  choices: Choices
  clock: Clock
  tell: Tell
}

export interface MigrationContext extends Pick<MigrationOptions, 'choices' | 'clock' | 'tell'> {
  etcd: EtcdSettings
}

export interface Moved extends StoreContent {
  /** The newest revision before, and after: the next write gets a higher one. */
  sourceRevision: number
  revision: number
  /** Where the embedded store from before is; null if it is the new one. */
  kept: string | null
}

/** What `store migrate` prints. */
export interface MigrationReport extends Moved {
  dir: string
  from: StoreKind
  to: StoreKind
  etcdPrefix: string
}

/** Copies all objects of a control plane from one kind of store to the other, and changes its settings. No server may run. */
export async function migrateStore(
  dir: string,
  {from, to, ...options}: MigrationOptions,
): Promise<MigrationReport> {
  if (from === to) throw new TrustError('USAGE', '--from and --to name the same kind of store')
  // Before anybody stops a server for it.
  etcdFor(await loadPlane(dir), from, options.choices)
  const work = async (): Promise<MigrationReport> => {
    const release = await holdStopped(dir)
    try {
      const plane = await loadPlane(dir)
      const choices =
        to === 'etcd' ? await withOwnFiles(certDirOf(plane), options.choices) : options.choices
      const etcd = etcdFor(plane, from, choices)
      const context = {...options, choices, etcd}
      const moved =
        to === 'etcd'
          ? await (await import('./to-etcd.ts')).moveToEtcd(plane, context)
          : await (await import('./to-embedded.ts')).moveToEmbedded(plane, context)
      return {dir, from, to, etcdPrefix: etcd.prefix, ...moved}
    } finally {
      await release()
    }
  }
  return await exclusively(dir, work, options.tell)
}

/** From the flags, or else from `config.yaml`. */
function etcdFor({dir, settings}: Plane, from: StoreKind, choices: Choices): EtcdSettings {
  const standing = etcdOf(settings)
  if (from === 'etcd' && !standing)
    throw new TrustError('CONFLICT', 'this control plane has the embedded store already', {
      hints: [`there is nothing to do: start its server with "${planeCommand(dir, 'start')}"`],
    })
  const etcd = etcdOf({...settings, ...choices})
  if (!etcd)
    throw new TrustError('USAGE', 'neither a flag nor config.yaml names the servers of etcd', {
      hints: ['name them with --etcd-servers'],
    })
  if (standing && standing.prefix !== etcd.prefix)
    throw new TrustError('CONFLICT', `config.yaml names the prefix ${standing.prefix}`, {
      hints: ['leave out --etcd-prefix'],
    })
  return etcd
}
