import {createHash} from 'node:crypto'
import {invalidArchive} from './archive-frames.ts'
import {compareKeys} from './keys.ts'
import {pagesOf} from './snapshot.ts'
import type {Entry, Storage} from './storage.ts'

/** How much is under way at once: bounds memory, and the load of the target. */
const MOST_WRITES = 32
const MOST_BYTES = 4 * 1_024 * 1_024

type Readable = Pick<Storage, 'list'>

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

/** The SHA-256 over keys and values, which come in the order of the keys. */
export class ContentHash {
  readonly #hash = createHash('sha256')
  #last = ''

  add({key, value}: Pick<Entry, 'key'> & {value?: Uint8Array}): void {
    if (this.#last !== '' && compareKeys(this.#last, key) >= 0)
      throw invalidArchive(`the key "${key}" is not in its place`)
    this.#last = key
    const bytes = Buffer.from(key)
    const lengths = Buffer.alloc(8)
    lengths.writeUInt32BE(bytes.length, 0)
    lengths.writeUInt32BE(value?.length ?? 0, 4)
    this.#hash
      .update(lengths)
      .update(bytes)
      .update(value ?? '')
  }

  digest(): string {
    return this.#hash.digest('hex')
  }
}

/** Two stores with the same keys and values have the same. `without` leaves some out. */
export async function contentOf(
  storage: Readable,
  without: (key: string) => boolean = () => false,
): Promise<string> {
  const hash = new ContentHash()
  for await (const entry of entriesOf(storage)) if (!without(entry.key)) hash.add(entry)
  return hash.digest()
}
