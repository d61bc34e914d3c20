import {TrustError} from '../../errors.ts'
import {ShiftedStorage} from '../shifted-storage.ts'
import type {Storage} from '../storage.ts'
import type {EtcdStorage} from './etcd.ts'

/** The key beside those of the store: its prefix, and this after a dot. */
const NAME = 'migration'

/**
 * What `store migrate` has written about the keys below a prefix. They are being copied from an embedded store; or they are complete,
 * and servers use them; or they have moved to an embedded store, and servers must not use them any more.
 */
export interface MigrationMark {
  state: 'copying' | 'serving' | 'moved'
  /** The embedded store that they come from or have gone to. */
  store: string
  /** All revisions of etcd count as higher by this. */
  offset: number
}

export interface FoundMark {
  mark?: MigrationMark
  /** The revision of the mark itself; 0 if there is none. */
  revision: number
}

export async function readMark(storage: EtcdStorage): Promise<FoundMark> {
  const {value, revision} = await storage.readOwn(NAME)
  return value ? {mark: parseMark(value), revision} : {revision}
}

/** Only if nobody else has changed it since it was read. Whoever wrote it writes nothing else once somebody changes it. */
export async function writeMark(
  storage: EtcdStorage,
  mark: MigrationMark,
  revision: number,
): Promise<FoundMark> {
  if (!(await storage.writeOwn(NAME, JSON.stringify(mark), revision))) throw otherMigration()
  const found = await readMark(storage)
  storage.guardBy(NAME, found.revision, () => Promise.reject(otherMigration()))
  return found
}

const otherMigration = (): TrustError =>
  new TrustError('CONFLICT', 'another migration uses the same keys in etcd', {
    hints: ['let it end, then run the command again'],
  })

function parseMark(value: Uint8Array): MigrationMark {
  try {
    const mark = JSON.parse(Buffer.from(value).toString()) as Partial<MigrationMark>
    const {state, store, offset} = mark
    const isKnown = state === 'copying' || state === 'serving' || state === 'moved'
    if (isKnown && typeof store === 'string' && Number.isSafeInteger(offset))
      return mark as MigrationMark
  } catch {
    // As any other text that is none.
  }
  throw new TrustError('STORE_FOREIGN', 'the mark of a migration in etcd cannot be read', {
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
    // A migration that was given up has changed nothing.
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
      'run the same "trustadm store migrate" again: it continues where it was interrupted',
      `or give it up, and delete the copy: etcdctl del --prefix ${prefix}/; etcdctl del ${prefix}.${NAME}`,
    ],
  })

export const moved = (prefix: string): TrustError =>
  new TrustError(
    'CONFLICT',
    `the objects below ${prefix}/ in etcd have moved to the embedded store of a control plane`,
    {
      hints: [
        'start the server where "trustadm store migrate" was run, and no other',
        'if that was interrupted, run it there again',
      ],
    },
  )
