import {stat} from 'node:fs/promises'
import {open} from 'lmdb'
import type {RootDatabase} from 'lmdb'
import {messageOf, TrustError} from '../errors.ts'
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
  return open<Buffer, Buffer>(file, {
    overlappingSync: false,
    noSubdir: true,
    keyEncoding: 'binary',
    encoding: 'binary',
  })
}

/** Records in LMDB, filed by revision. Values are read from the file's map at every call. */
export class LmdbRecords implements RecordStore {
  readonly #file: string
  #header: StoreHeader
  #newest: number
  /** Absent where opening it again failed after a failed commit. */
  #database: RootDatabase<Buffer, Buffer> | undefined
  /** Left by a commit that failed so late that part of it may be on the disk. */
  #leftOver: number[] = []

  constructor(file: string, header: StoreHeader, newest: number) {
    this.#file = file
    this.#header = header
    this.#newest = newest
    this.#database = openLmdb(file)
  }

  value(revision: number): Uint8Array {
    const bytes = this.#opened().getBinary(revisionKey(revision))
    if (!bytes) throw damaged(`the record of revision ${revision} is missing`)
    const {value} = decodeRecord(revision, bytes)
    if (!value) throw damaged(`the record of revision ${revision} has no value`)
    return value
  }

  async commit({put, remove, compacted}: RecordChange): Promise<void> {
    const header = {...this.#header, compacted}
    try {
      const database = this.#opened()
      await database.batch(() => {
        for (const revision of this.#leftOver) void database.remove(revisionKey(revision))
        for (const record of put)
          void database.put(revisionKey(record.revision), encodeRecord(record))
        for (const revision of remove) void database.remove(revisionKey(revision))
        if (compacted !== this.#header.compacted) {
          void database.put(HEADER_KEY, encodeHeader(header))
        }
      })
    } catch (error) {
      const cause = await commitError(error)
      await this.#reopen()
      throw new TrustError('STORE_WRITE_FAILED', `the store cannot write: ${messageOf(cause)}`, {
        cause,
        hints: ['nothing was changed: see that the disk has room and works, then try again'],
      })
    }
    this.#header = header
    this.#leftOver = []
    this.#newest = put.at(-1)?.revision ?? this.#newest
  }

  async size(): Promise<number> {
    return (await stat(this.#file)).size
  }

  async close(): Promise<void> {
    await this.#database?.close()
    this.#database = undefined
  }

  #opened(): RootDatabase<Buffer, Buffer> {
    this.#database ??= openLmdb(this.#file)
    return this.#database
  }

  /**
   * After a failed commit LMDB may refuse every further transaction, and the library would wait for the next one forever.
   * A fresh environment knows only what is on the disk. Were the failed commit there after all, its records would stand in
   * the way of those that get their revisions next.
   */
  async #reopen(): Promise<void> {
    await this.#database?.close()
    this.#database = undefined
    try {
      const keys = this.#opened().getKeys({start: revisionKey(this.#newest + 1)})
      this.#leftOver = [...keys].map((key) => revisionOf(key))
    } catch {
      // Still not usable: the next commit or read tries again and tells why.
    }
  }
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
