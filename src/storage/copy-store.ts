import {createHash} from 'node:crypto'
import {TrustError} from '../errors.ts'
import {compareKeys} from './keys.ts'
import {pagesOf} from './snapshot.ts'
import type {Entry, Storage} from './storage.ts'

/** How much is under way at once: bounds memory, and the load of the target. */
const MOST_WRITES = 32
const MOST_BYTES = 4 * 1_024 * 1_024

type Readable = Pick<Storage, 'list'>

/** What two stores that were compared hold. */
export interface StoreContent {
  keys: number
  /** Of all values. */
  bytes: number
  /** Over all keys and values. */
  sha256: string
}

async function* entriesOf(storage: Readable): AsyncGenerator<Entry> {
  for await (const page of pagesOf(storage)) yield* page
}

/** The entries of both stores side by side, in the order of their keys. */
async function* pairsOf(
  source: Readable,
  target: Readable,
): AsyncGenerator<{wanted?: Entry; found?: Entry}> {
  const left = entriesOf(source)
  const right = entriesOf(target)
  let wanted = await left.next()
  let found = await right.next()
  for (;;) {
    if (wanted.done && found.done) return
    const order = wanted.done ? 1 : found.done ? -1 : compareKeys(wanted.value.key, found.value.key)
    yield {
      ...(order <= 0 && !wanted.done && {wanted: wanted.value}),
      ...(order >= 0 && !found.done && {found: found.value}),
    }
    if (order <= 0) wanted = await left.next()
    if (order >= 0) found = await right.next()
  }
}

const isSameValue = (one: Entry, other: Entry): boolean =>
  Buffer.compare(one.value, other.value) === 0

/**
 * Gives the target every key and value of the source, and takes away every other. What an earlier run has copied stays as it is, so
 * this can be interrupted at any point and run again. Nobody else may write to either.
 */
export async function copyStore(source: Readable, target: Storage): Promise<void> {
  let writes: Promise<unknown>[] = []
  let bytes = 0
  for await (const {wanted, found} of pairsOf(source, target)) {
    if (wanted && found && isSameValue(wanted, found)) continue
    const write = change(target, wanted, found)
    // Its failure is thrown below, but may come while the next page is read.
    write.catch(() => undefined)
    writes.push(write)
    bytes += wanted?.value.length ?? 0
    if (writes.length < MOST_WRITES && bytes < MOST_BYTES) continue
    await Promise.all(writes)
    writes = []
    bytes = 0
  }
  await Promise.all(writes)
}

async function change(target: Storage, wanted?: Entry, found?: Entry): Promise<unknown> {
  if (wanted && found) return target.update(wanted.key, wanted.value, found.revision)
  if (wanted) return target.create(wanted.key, wanted.value)
  return found && target.delete(found.key, found.revision)
}

/** Reads both stores to their ends, and throws CONFLICT if any key or value, or on demand any revision, differs. */
export async function compareStores(
  source: Readable,
  target: Readable,
  {revisions = false}: {revisions?: boolean} = {},
): Promise<StoreContent> {
  const hash = createHash('sha256')
  let keys = 0
  let bytes = 0
  for await (const {wanted, found} of pairsOf(source, target)) {
    if (!wanted) throw differing(found?.key, 'is only in the copy')
    if (!found) throw differing(wanted.key, 'is not in the copy')
    if (!isSameValue(wanted, found)) throw differing(wanted.key, 'has another value in the copy')
    const isSameAge = wanted.revision === found.revision && wanted.created === found.created
    if (revisions && !isSameAge) throw differing(wanted.key, 'has another revision in the copy')
    const key = Buffer.from(wanted.key)
    const lengths = Buffer.alloc(8)
    lengths.writeUInt32BE(key.length, 0)
    lengths.writeUInt32BE(wanted.value.length, 4)
    hash.update(lengths).update(key).update(wanted.value)
    keys += 1
    bytes += wanted.value.length
  }
  return {keys, bytes, sha256: hash.digest('hex')}
}

const differing = (key: string | undefined, how: string): TrustError =>
  new TrustError('CONFLICT', `the stores differ: the key "${key ?? ''}" ${how}`, {
    hints: ['see that nothing else writes to them, then run the command again'],
  })
