import {TrustError} from '../../errors.ts'
import {ShiftedStorage} from '../shifted-storage.ts'
import type {Storage} from '../storage.ts'
import type {EtcdStorage} from './etcd.ts'

/** The key beside those of the store: its prefix, and this after a dot. */
const NAME = 'migration'

/**
 * What `restore` has written about the keys below a prefix. They are being copied; or they are complete, and servers use them; or they
 * have moved to another store, and servers must not use them any more.
 */
export interface MigrationMark {
  state: 'copying' | 'serving' | 'moved'
  /** The store that they come from or have gone to. */
  store: string
  /** All revisions of etcd count as higher by this. */
  offset: number
}

export interface FoundMark {
  mark?: MigrationMark
  /** Who has written it. */
  run?: string | undefined
  /** The revision of the mark itself; 0 if there is none. */
  revision: number
}

export async function readMark(storage: EtcdStorage): Promise<FoundMark> {
  const {value, revision} = await storage.readOwn(NAME)
  return value ? {...parseMark(value), revision} : {revision}
}

/**
 * Only if nobody else has changed it since it was read. Whoever wrote it writes nothing else once somebody changes it. A question that
 * is under way meanwhile, or a write that was repeated because its answer was lost, finds the new mark: that is no other run.
 */
export async function writeMark(
  storage: EtcdStorage,
  mark: MigrationMark,
  {revision, run: before}: FoundMark,
): Promise<FoundMark> {
  const {opener: run} = storage
  const findOwn = async (...runs: (string | undefined)[]): Promise<FoundMark> => {
    const found = await readMark(storage)
    if (!runs.includes(found.run)) throw otherMigration()
    return found
  }
  storage.guardBy(NAME, revision, async () => (await findOwn(run, before)).revision)
  await storage.writeOwn(NAME, JSON.stringify({...mark, run}), revision)
  const found = await findOwn(run)
  storage.guardBy(NAME, found.revision, async () => (await findOwn(run)).revision)
  return found
}

const otherMigration = (): TrustError =>
  new TrustError('CONFLICT', 'another restore uses the same keys in etcd', {
    hints: ['let it end, then run the command again'],
  })

function parseMark(value: Uint8Array): Omit<FoundMark, 'revision'> {
  try {
    const {run, ...mark} = JSON.parse(Buffer.from(value).toString()) as MigrationMark & FoundMark
    const isKnown = ['copying', 'serving', 'moved'].includes(mark.state)
    if (isKnown && typeof mark.store === 'string' && Number.isSafeInteger(mark.offset))
      return {mark, run}
  } catch {
    // As any other text that is none.
  }
  throw new TrustError('STORE_FOREIGN', 'the mark of a restore in etcd cannot be read', {
    hints: ['if a newer trustadm wrote it, upgrade trustadm on this machine'],
  })
}

/** The revisions of a store as its clients know them. */
export const shifted = (storage: EtcdStorage, {mark}: FoundMark): Storage =>
  mark ? new ShiftedStorage(storage, mark.offset) : storage

/**
 * The store for a server. Throws CONFLICT if a migration has not completed it, or has taken it elsewhere. `onMoved` is called with that
 * error if it happens later: the server must stop, and cannot write any more.
 */
export async function servable(
  storage: EtcdStorage,
  prefix: string,
  onMoved?: (reason: unknown) => void,
): Promise<Storage> {
  const found = await readMark(storage)
  requireServable(found, prefix)
  const judge = async () => {
    const now = await readMark(storage)
    requireServable(now, prefix)
    if (offsetOf(now) !== offsetOf(found)) throw moved(prefix)
    // A restore that was given up has changed nothing.
    return now.revision
  }
  storage.guardBy(NAME, found.revision, judge, onMoved)
  return shifted(storage, found)
}

const offsetOf = ({mark}: FoundMark): number => mark?.offset ?? 0

function requireServable({mark}: FoundMark, prefix: string): void {
  if (mark?.state === 'copying') throw incomplete(prefix)
  if (mark?.state === 'moved') throw moved(prefix)
}

export const incomplete = (prefix: string): TrustError =>
  new TrustError('CONFLICT', `the objects below ${prefix}/ in etcd are not copied completely`, {
    hints: [
      'run the same "trustadm restore" again: it continues where it was interrupted',
      `or give it up, and delete the copy: etcdctl del --prefix ${prefix}/; etcdctl del ${prefix}.${NAME}`,
    ],
  })

export const moved = (prefix: string): TrustError =>
  new TrustError(
    'CONFLICT',
    `the objects below ${prefix}/ in etcd have moved to another store of the control plane`,
    {
      hints: [
        'start the server where "trustadm restore" was run; if that was interrupted, run it there again',
        'if the new store is in etcd, too, set its etcdServers and etcdPrefix in config.yaml here',
      ],
    },
  )
