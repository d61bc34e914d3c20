import {stat} from 'node:fs/promises'
import type {RootDatabase} from 'lmdb'
import {hasCode, type TrustError} from '../errors.ts'
import {FileReserve} from './file-reserve.ts'
import {checkLmdbFile} from './lmdb-check.ts'
import {commitError, endIfOverrun, openLmdb, requireOpenable, writeFailed} from './lmdb-file.ts'
import {
  damaged,
  decodeHeader,
  decodeRecord,
  encodeHeader,
  encodeRecord,
  revisionKey,
  revisionOf,
  type StoreHeader,
} from './record-codec.ts'
import type {RecordChange, RecordStore} from './record-store.ts'
import {FIRST_REVISION} from './versioned-state.ts'

/** The shortest time between a failure and the next check: a check reads the whole file. */
const RETRY_AFTER = 1_000

/** In bytes. A disk with less room than this counts as full, though small commits may still fit. */
const PROBE_ROOM = 1_024 * 1_024

/** Revision 0 is no change, so its place is free for the header. */
export const HEADER_KEY = revisionKey(0)

/** Records in LMDB, sorted by revision. Values are read from the memory map at every call. */
export class LmdbRecords implements RecordStore {
  readonly #file: string
  readonly #open: typeof openLmdb
  readonly #reserve: FileReserve
  #header: StoreHeader
  #newest: number
  #database: RootDatabase<Buffer, Buffer>
  /** A commit failed: before the next one the file must be checked and opened again. */
  #failure: {error: TrustError; retryAt: number} | undefined

  constructor(file: string, header: StoreHeader, newest: number, open = openLmdb) {
    this.#file = file
    this.#header = header
    this.#newest = newest
    this.#open = open
    this.#database = open(file)
    this.#reserve = new FileReserve(file)
  }

  value(revision: number): Uint8Array {
    // The library's own buffer, valid until the next read: only the value needs to be copied.
    const bytes = this.#database.getBinaryFast(revisionKey(revision))
    if (!bytes) throw damaged(`the record of revision ${revision} is missing`)
    const {value} = decodeRecord(revision, bytes.subarray(0, bytes.length))
    if (!value) throw damaged(`the record of revision ${revision} has no value`)
    return value.slice()
  }

  async commit({put, remove, compacted}: RecordChange): Promise<void> {
    const header = {...this.#header, compacted}
    const records = put.map((record) => ({revision: record.revision, bytes: encodeRecord(record)}))
    await this.#requireSound()
    // An empty commit shows that the disk accepts writes.
    const isProbe = records.length === 0 && remove.length === 0
    await this.#makeRoom(records, remove.length, isProbe ? PROBE_ROOM : 0)
    try {
      await this.#transact(() => {
        for (const {revision, bytes} of records) this.#put(revision, bytes)
        for (const revision of remove) this.#remove(revision)
        if (isProbe || compacted !== this.#header.compacted) this.#put(0, encodeHeader(header))
      })
    } catch (error) {
      // Before callers learn of the failure: a failed write must not exist after a restart.
      await this.#recover().catch(() => undefined)
      throw error
    }
    this.#header = header
    this.#newest = put.at(-1)?.revision ?? this.#newest
  }

  async size(): Promise<number> {
    return (await stat(this.#file)).size
  }

  close(): Promise<void> {
    return this.#database.close()
  }

  /**
   * LMDB must never hit a full disk: it would then write its message past the end of a buffer, and the process could crash
   * at any later time. So space for the commit is reserved before LMDB is called.
   */
  async #makeRoom(records: {bytes: Buffer}[], removals: number, least = 0): Promise<void> {
    const stats = this.#database.getStats() as LmdbStats
    const {pageSize} = stats
    const used = (stats.lastPageNumber + 1) * pageSize
    try {
      const most = pagesFor(stats, records, removals) * pageSize
      await this.#reserve.ensure(used, Math.max(most, least))
    } catch (error) {
      throw writeFailed(error)
    }
  }

  #put(revision: number, bytes: Buffer): void {
    void this.#database.put(revisionKey(revision), bytes)
  }

  #remove(revision: number): void {
    void this.#database.remove(revisionKey(revision))
  }

  async #transact(change: () => void): Promise<void> {
    try {
      await this.#database.batch(change)
    } catch (thrown) {
      const cause = await commitError(thrown)
      endIfOverrun(cause)
      const error = writeFailed(cause)
      this.#failure = {error, retryAt: performance.now() + RETRY_AFTER}
      throw error
    }
  }

  /** Until the store is sound again, writes are refused and the old environment serves reads. */
  async #requireSound(): Promise<void> {
    if (!this.#failure) return
    if (performance.now() < this.#failure.retryAt) throw this.#failure.error
    try {
      await this.#recover()
    } catch (thrown) {
      const error = hasCode(thrown, 'STORE_WRITE_FAILED') ? thrown : writeFailed(thrown)
      this.#failure = {error, retryAt: performance.now() + RETRY_AFTER}
      throw error
    }
  }

  /**
   * After a failed commit LMDB may refuse every further transaction, and the library would wait for the next one forever.
   * So the file is checked as a whole and opened again. What a commit that failed very late has left is removed. A page
   * that could not be synced may be in memory and not on the disk: LMDB uses none of the failed commit's, but for the two
   * meta pages, which transactions write in turn; so there are two of them.
   */
  async #recover(): Promise<void> {
    const leftOver = checkedRecordsAfter(this.#file, this.#newest)
    requireOpenable(this.#file)
    await this.#database.close()
    this.#database = this.#open(this.#file)
    const header = this.#database.get(HEADER_KEY)
    if (!header) throw damaged('its header is missing')
    for (const removals of [leftOver, []]) {
      await this.#makeRoom([], removals.length)
      await this.#transact(() => {
        for (const revision of removals) this.#remove(revision)
        void this.#database.put(HEADER_KEY, header)
      })
    }
    this.#failure = undefined
  }
}

/** Checks the whole file, and that the last acknowledged write is there. Returns the revisions after it. */
function checkedRecordsAfter(file: string, newest: number): number[] {
  let compacted: number | undefined
  let isNewestThere = false
  const later: number[] = []
  checkLmdbFile(file, (key, bytes) => {
    if (compacted === undefined) {
      ;({compacted} = decodeHeader(bytes))
      return
    }
    const {revision} = decodeRecord(revisionOf(key), bytes)
    if (revision === newest) isNewestThere = true
    if (revision > newest) later.push(revision)
  })
  if (!isNewestThere && newest > Math.max(compacted ?? 0, FIRST_REVISION)) {
    throw damaged(`the record of revision ${newest} is missing`)
  }
  return later
}

/** In long random runs no commit took more than 0.8 of this estimate; the rest is a safety margin. */
const MARGIN = 1.5

interface TreeStats {
  treeDepth: number
  treeBranchPageCount: number
  treeLeafPageCount: number
  overflowPages: number
}

/** What the library's getStats returns; its types do not say. */
interface LmdbStats extends TreeStats {
  pageSize: number
  lastPageNumber: number
  free: TreeStats
}

/**
 * The most pages that a commit can add. LMDB copies each page it changes: a record takes at most two leaves or its overflow
 * pages, a removal takes the leaf of the record, and both take the branches above. The list of free pages may be written
 * again.
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
