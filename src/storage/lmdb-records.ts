import {closeSync, openSync} from 'node:fs'
import {stat} from 'node:fs/promises'
import {open} from 'lmdb'
import type {RootDatabase} from 'lmdb'
import {messageOf, TrustError} from '../errors.ts'
import {FileReserve} from './file-reserve.ts'
import {damaged, decodeRecord, encodeRecord, revisionKey, revisionOf} from './record-codec.ts'
import type {RecordChange, RecordStore} from './record-store.ts'
import {encodeHeader} from './store-header.ts'
import type {StoreHeader} from './store-header.ts'

/** Revision 0 is no change, so its place is free for the header. */
export const HEADER_KEY = revisionKey(0)

/**
 * Opens an LMDB file. In the default mode of this library a commit is visible, and may be acknowledged, before it is synced.
 * With `overlappingSync` off, LMDB itself orders a commit: it writes the pages where no snapshot needs what was there,
 * syncs them, and only then writes the meta page that makes them count, through a descriptor opened with O_DSYNC. The
 * library settles the promise when that write has returned. So what is acknowledged is on the disk, and a crash at any point
 * leaves the state before the commit or after it.
 */
export function openLmdb(file: string): RootDatabase<Buffer, Buffer> {
  requireOpenable(file)
  return open<Buffer, Buffer>(file, {
    overlappingSync: false,
    noSubdir: true,
    keyEncoding: 'binary',
    encoding: 'binary',
  })
}

/** The library crashes where LMDB cannot open its three descriptors, so that is tried first, where it is an error like any other. */
function requireOpenable(file: string): void {
  const descriptors: number[] = []
  try {
    for (const path of [file, file, `${file}-lock`]) descriptors.push(openSync(path, 'r+'))
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

/** Records in LMDB, filed by revision. Values are read from the file's map at every call. */
export class LmdbRecords implements RecordStore {
  readonly #file: string
  readonly #open: typeof openLmdb
  readonly #reserve: FileReserve
  #header: StoreHeader
  #newest: number
  #database: RootDatabase<Buffer, Buffer>
  /** A commit failed: before the next one the file has to be opened again. */
  #failed = false
  /** Left by a commit that failed so late that part of it may be on the disk. */
  #leftOver: number[] = []

  constructor(file: string, header: StoreHeader, newest: number, open = openLmdb) {
    this.#file = file
    this.#header = header
    this.#newest = newest
    this.#open = open
    this.#database = open(file)
    this.#reserve = new FileReserve(file)
  }

  value(revision: number): Uint8Array {
    // The library's own buffer, good until the next read: copying the value alone is what is left to pay.
    const bytes = this.#database.getBinaryFast(revisionKey(revision))
    if (!bytes) throw damaged(`the record of revision ${revision} is missing`)
    const {value} = decodeRecord(revision, bytes.subarray(0, bytes.length))
    if (!value) throw damaged(`the record of revision ${revision} has no value`)
    return value.slice()
  }

  async commit(change: RecordChange): Promise<void> {
    const {put, remove, compacted} = change
    const header = {...this.#header, compacted}
    const records = put.map((record) => ({revision: record.revision, bytes: encodeRecord(record)}))
    try {
      if (this.#failed) await this.#reopen()
      await this.#makeRoom(records, remove.length + this.#leftOver.length)
    } catch (error) {
      throw writeFailed(error)
    }
    try {
      await this.#database.batch(() => {
        for (const revision of this.#leftOver) void this.#database.remove(revisionKey(revision))
        for (const {revision, bytes} of records) this.#put(revision, bytes)
        for (const revision of remove) void this.#database.remove(revisionKey(revision))
        if (compacted !== this.#header.compacted) this.#put(0, encodeHeader(header))
      })
    } catch (error) {
      this.#failed = true
      throw writeFailed(await commitError(error))
    }
    this.#header = header
    this.#leftOver = []
    this.#newest = put.at(-1)?.revision ?? this.#newest
  }

  async size(): Promise<number> {
    return (await stat(this.#file)).size
  }

  close(): Promise<void> {
    return this.#database.close()
  }

  /**
   * LMDB must not meet a full disk: where it does, it writes its message past the end of a buffer, and the process may crash
   * at any time after. So the file has room for the commit before LMDB is asked.
   */
  async #makeRoom(records: {bytes: Buffer}[], removals: number): Promise<void> {
    const stats = this.#database.getStats() as LmdbStats
    const {pageSize} = stats
    const used = (stats.lastPageNumber + 1) * pageSize
    await this.#reserve.ensure(used, pagesFor(stats, records, removals) * pageSize)
  }

  #put(revision: number, bytes: Buffer): void {
    void this.#database.put(revisionKey(revision), bytes)
  }

  /**
   * After a failed commit LMDB may refuse every further transaction, and the library would wait for the next one forever.
   * A fresh environment knows only what is on the disk. Were the failed commit there after all, its records would stand in
   * the way of those that get their revisions next. Until it can be opened, the old one goes on serving reads.
   */
  async #reopen(): Promise<void> {
    requireOpenable(this.#file)
    await this.#database.close()
    this.#database = this.#open(this.#file)
    const keys = this.#database.getKeys({start: revisionKey(this.#newest + 1)})
    this.#leftOver = [...keys].map((key) => revisionOf(key))
    this.#failed = false
  }
}

/** In long random runs no commit took more than 0.8 of what is counted here; the rest is caution. */
const MARGIN = 1.5

interface TreeStats {
  treeDepth: number
  treeBranchPageCount: number
  treeLeafPageCount: number
  overflowPages: number
}

/** What the library's getStats answers; its types leave it open. */
interface LmdbStats extends TreeStats {
  pageSize: number
  lastPageNumber: number
  free: TreeStats
}

/**
 * The most pages that a commit can add. LMDB copies each page it changes: a record takes at most two leaves of its own or its
 * overflow pages, a removal the leaf it stands on, both the branches above, and the list of free pages may be written anew.
 */
function pagesFor(stats: LmdbStats, records: {bytes: Buffer}[], removals: number): number {
  const {pageSize, treeDepth, treeBranchPageCount, treeLeafPageCount, free} = stats
  const added = records.reduce(
    (pages, {bytes}) => pages + 3 + Math.ceil(bytes.length / pageSize),
    0,
  )
  const changed =
    treeDepth + (removals ? Math.min(removals, treeLeafPageCount) + treeBranchPageCount : 0)
  const list = free.treeBranchPageCount + free.treeLeafPageCount + free.overflowPages
  const most = added + changed + 2 * list + Math.ceil((added + changed) / 64) + 32
  return Math.ceil(most * MARGIN)
}

function writeFailed(cause: unknown): TrustError {
  return new TrustError('STORE_WRITE_FAILED', `the store cannot write: ${messageOf(cause)}`, {
    cause,
    hints: ['nothing was changed: see that the disk has room and works, then try again'],
  })
}

/** The library rejects with a promise of the reason. */
async function commitError(error: unknown): Promise<unknown> {
  const reason = (error as {commitError?: Promise<never>} | undefined)?.commitError
  if (!reason) return error
  try {
    return await reason
  } catch (cause) {
    return cause
  }
}
