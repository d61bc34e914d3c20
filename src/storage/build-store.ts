import {LmdbRecords} from './lmdb-records.ts'
import {invalidArchive} from './archive-frames.ts'
import {requireKey} from './keys.ts'
import {createStoreFile} from './store-files.ts'
import type {VersionRecord} from './record-store.ts'
import {newHeader} from './record-codec.ts'

/** As etcd's documents recommend for `--bump-revision`: more than any server has written since the snapshot. */
export const REVISION_BUMP = 1_000_000_000

/** What one commit of a restore holds at most. */
const BATCH_BYTES = 8 * 1_024 * 1_024

export interface StoreBuilder {
  add(records: readonly VersionRecord[]): Promise<void>
  /** Completes the file. */
  end(): Promise<void>
  /** Closes it as it is, after a failure. */
  abandon(): Promise<void>
}

/**
 * Makes a new store, in which every key has the value and the revisions of a snapshot. All of its history up to `revision` counts as
 * compacted, as with etcd's `--mark-compacted`: the next write has a higher revision than any that clients know, and a watch from
 * before gets 410, so that its client lists again. `instance` identifies this very store.
 */
export async function buildStore(
  file: string,
  revision: number,
  instance?: string,
): Promise<StoreBuilder> {
  const header = newHeader(instance)
  await createStoreFile(file, header)
  const records = new LmdbRecords(file, header, 0)
  let batch: VersionRecord[] = []
  let bytes = 0
  const write = async (compacted: number) => {
    await records.commit({put: batch, remove: [], compacted})
    batch = []
    bytes = 0
  }
  return {
    async add(more) {
      for (const record of more) {
        requireRecord(record, revision)
        // A copy: the bytes given are part of a buffer that is read into again.
        const value = Uint8Array.from(record.value ?? [])
        batch.push({...record, value})
        bytes += value.length
        if (bytes >= BATCH_BYTES) await write(0)
      }
    },
    async end() {
      await write(revision)
      await records.close()
    },
    abandon: () => records.close(),
  }
}

function requireRecord({key, created, revision}: VersionRecord, most: number): void {
  requireKey(key)
  if (created > 0 && created <= revision && revision <= most) return
  throw invalidArchive(`the record of revision ${revision} has impossible revisions`)
}
