import {join} from 'node:path'
import {messageOf} from '../errors.ts'
import {startCompaction} from './compaction.ts'
import {checkLmdbFile} from './lmdb-check.ts'
import {HEADER_KEY, LmdbRecords} from './lmdb-records.ts'
import {
  damaged,
  decodeHeader,
  decodeRecord,
  foreign,
  revisionOf,
  type StoreHeader,
} from './record-codec.ts'
import type {RecordStore, VersionRecord} from './record-store.ts'
import {fileError, prepareData, prepareFolder, prepareReaders} from './store-files.ts'
import type {StoreFiles} from './store-files.ts'
import {lockFolder} from '../fs/folder-lock.ts'
import {VersionedState} from './versioned-state.ts'
import {VersionedStorage} from './versioned-storage.ts'

/**
 * Opens the embedded store in the folder `store` of the directory, and creates it if it does not exist. Throws STORE_LOCKED
 * if another process has it open, STORE_FOREIGN and STORE_CORRUPT if the file is not what this program wrote; such a file is
 * left as it is. `tell` is called with a line when writes begin to fail, and when they work again.
 */
export async function openLmdbStorage(
  directory: string,
  tell: (line: string) => void = () => undefined,
): Promise<VersionedStorage> {
  const files = prepareFolder(directory)
  const unlock = await lock(files)
  try {
    await prepareData(files)
    const {header, state} = load(files)
    const records = new LmdbRecords(files.data, header, state.revision)
    const forgotten = state.pruneLoaded()
    const release = () => {
      stopCompaction()
      return unlock()
    }
    const storage = new VersionedStorage(withRelease(records, release), state, {forgotten, tell})
    const stopCompaction = startCompaction(storage, state.revision, (error) =>
      tell(`error: cannot compact the store: ${messageOf(error)}`),
    )
    return storage
  } catch (error) {
    await unlock()
    throw error
  }
}

/** The newest revision of the store in a directory; 0 if there is none, or none that can be read. Nothing else may have it open. */
export function storeRevision(directory: string): number {
  try {
    const {state} = load({data: join(directory, 'store', 'data.mdb')})
    return state.revision
  } catch {
    return 0
  }
}

/**
 * Opens one store file, wherever it is. The caller has the lock of its folder, and keeps it until the store is closed. Nothing is
 * compacted. `instance` identifies this very store.
 */
export function openStoreFile(data: string): {storage: VersionedStorage; instance: string} {
  try {
    const {header, state} = load({data})
    prepareReaders(`${data}-lock`)
    const records = new LmdbRecords(data, header, state.revision)
    const forgotten = state.pruneLoaded()
    return {storage: new VersionedStorage(records, state, {forgotten}), instance: header.instance}
  } catch (error) {
    throw fileError(error, data)
  }
}

async function lock({folder}: StoreFiles): Promise<() => Promise<void>> {
  try {
    return await lockFolder(folder)
  } catch (error) {
    throw fileError(error, folder)
  }
}

/** The same pass over the file checks it and collects the keys and revisions. */
function load({data}: Pick<StoreFiles, 'data'>): {header: StoreHeader; state: VersionedState} {
  let header: StoreHeader | undefined
  let state = new VersionedState()
  checkLmdbFile(data, (key, value) => {
    if (header) {
      applyLoaded(state, decodeRecord(revisionOf(key), value))
      return
    }
    if (!key.equals(HEADER_KEY)) throw foreign('the file is a database of another program')
    header = decodeHeader(value)
    state = new VersionedState(header.compacted)
  })
  if (!header) throw foreign('the file is a database without content')
  return {header, state}
}

/** Above the compacted revision no change may be missing, and each must follow from the one before. */
function applyLoaded(state: VersionedState, {key, revision, created, value}: VersionRecord): void {
  if (revision > state.compacted) {
    const previous = state.newest(key)
    const follows = previous ? created === previous.created || created === 0 : created === revision
    if (revision !== state.revision + 1 || !follows) {
      throw damaged(`revision ${revision} does not follow from those before it`)
    }
  }
  state.apply(key, {revision, created, bytes: value?.length ?? 0})
}

function withRelease(records: LmdbRecords, release: () => Promise<void>): RecordStore {
  return {
    value: (revision) => records.value(revision),
    commit: (change) => records.commit(change),
    size: () => records.size(),
    close: async () => {
      await records.close()
      await release()
    },
  }
}
