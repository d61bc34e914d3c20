import {once} from 'node:events'
import type {Writable} from 'node:stream'
import {setImmediate as nextTurn} from 'node:timers/promises'
import {messageOf, TrustError} from '../errors.ts'
import {ArchiveWriter, invalidArchive, type Append, type ArchiveHeader} from './archive-frames.ts'
import {decodeRecord, encodeRecord} from './record-codec.ts'
import type {VersionRecord} from './record-store.ts'
import type {Entry, Storage} from './storage.ts'
import type {VersionedStorage} from './versioned-storage.ts'

/** How much is read at once: bounds memory, and how long writers and requests wait. */
const PAGE = {limit: 1_000, bytes: 1_024 * 1_024}
const NUMBERS = 12
const WORD = 2 ** 32

/** A store that can keep its history readable is asked to; etcd keeps some minutes of it. */
export type SnapshotSource = Pick<Storage, 'list' | 'revision'> &
  Partial<Pick<VersionedStorage, 'hold'>>

/** Every key in order, by default as of the moment when its page is read. Nothing is copied in advance. */
export async function* pagesOf(
  storage: Pick<Storage, 'list'>,
  revision?: number,
): AsyncGenerator<Entry[]> {
  const at = revision === undefined ? PAGE : {...PAGE, revision}
  for (let after: string | undefined; ;) {
    const page = await storage.list('', {...at, ...(after !== undefined && {after})})
    if (page.entries.length > 0) yield page.entries
    if (page.remaining === 0) return
    after = page.entries.at(-1)?.key
    await nextTurn()
  }
}

/** Records one after the other, each behind its revision and its length. */
export function encodeEntries(entries: readonly VersionRecord[]): Buffer {
  const parts: Buffer[] = []
  for (const entry of entries) {
    const record = encodeRecord(entry)
    const numbers = Buffer.alloc(NUMBERS)
    numbers.writeUInt32BE(Math.floor(entry.revision / WORD), 0)
    numbers.writeUInt32BE(entry.revision % WORD, 4)
    numbers.writeUInt32BE(record.length, 8)
    parts.push(numbers, record)
  }
  return Buffer.concat(parts)
}

/** Checks each record by its own checksum, too. */
export function decodeEntries(content: Buffer): VersionRecord[] {
  const records: VersionRecord[] = []
  for (let at = 0; at < content.length;) {
    if (at + NUMBERS > content.length) throw invalidArchive('a record is cut off')
    const revision = content.readUInt32BE(at) * WORD + content.readUInt32BE(at + 4)
    const start = at + NUMBERS
    at = start + content.readUInt32BE(at + 8)
    if (at > content.length) throw invalidArchive('a record is cut off')
    records.push(decoded(revision, content.subarray(start, at)))
  }
  return records
}

function decoded(revision: number, bytes: Buffer): VersionRecord {
  try {
    const record = decodeRecord(revision, bytes)
    if (record.value && Number.isSafeInteger(revision) && revision > 0) return record
  } catch (error) {
    throw invalidArchive(`the record of revision ${revision} was altered`, error)
  }
  throw invalidArchive(`the record of revision ${revision} has no value`)
}

/** Waits until there is room, so that a slow reader costs no memory. */
export async function sendTo(stream: Writable, bytes: Uint8Array): Promise<void> {
  if (stream.destroyed) throw new TrustError('STORE_CLOSED', 'the reader of the snapshot has gone')
  if (stream.write(bytes)) return
  const {signal, abort} = listening()
  try {
    await Promise.race([once(stream, 'drain', {signal}), once(stream, 'close', {signal})])
  } finally {
    abort()
  }
}

/** Takes the listeners away that are no longer needed. */
function listening(): {signal: AbortSignal; abort: () => void} {
  const controller = new AbortController()
  return {signal: controller.signal, abort: () => controller.abort()}
}

/** Writes a store as it is now, as an archive of its own. The history stays readable until it is written. */
export async function writeSnapshot(
  storage: SnapshotSource,
  about: Pick<ArchiveHeader, 'createdAt' | 'program'>,
  append: Append,
): Promise<void> {
  const writer = new ArchiveWriter(append)
  const held = storage.hold?.()
  const revision = held?.revision ?? (await storage.revision())
  let keys = 0
  try {
    await writer.begin({kind: 'objects-only', ...about, revision})
    for await (const page of pagesOf(storage, revision)) {
      keys += page.length
      await writer.frame('entries', encodeEntries(page))
    }
  } catch (error) {
    await writer.frame('failure', Buffer.from(messageOf(error)))
    throw error
  } finally {
    held?.release()
  }
  await writer.end({keys, files: 0})
}
