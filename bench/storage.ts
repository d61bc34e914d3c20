import {randomBytes} from 'node:crypto'
import {mkdtemp, open, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {openLmdbStorage} from '../src/storage/lmdb.ts'
import type {Storage} from '../src/storage/storage.ts'
import {compared, milliseconds, type BenchRow} from './rows.ts'

const VALUE = randomBytes(1_024)
const SIZES = [100, 10_000, 50_000]
const PAGE = 500
const DISK = 'append and fdatasync'

/** How fast the embedded store is beside what the disk and a Map can do at best. */
export async function benchStorage(): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  try {
    const writers = await benchWriters(folder)
    const sizes: BenchRow[][] = []
    for (const size of SIZES) sizes.push(await benchSize(join(folder, String(size)), size))
    return [...writers, ...sizes.flatMap((rows) => besideSmallest(rows, sizes[0] ?? []))]
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

/** What has no baseline of its own is compared with what it was at the smallest size. */
const besideSmallest = (rows: BenchRow[], smallest: BenchRow[]): BenchRow[] =>
  rows.map((row, index) => {
    const first = smallest[index]
    if (row.baseline !== undefined || first === undefined) return row
    return compared(row.name, row.value, row.unit, [first.value, `at ${SIZES[0]} keys`])
  })

async function benchWriters(folder: string): Promise<BenchRow[]> {
  const one = await rawAppends(join(folder, 'raw-1'), 300, 1)
  const many = await rawAppends(join(folder, 'raw-64'), 300, 64)
  const storage = await openLmdbStorage(join(folder, 'writers'))
  const rows = [
    compared('creates, 1 writer', await creates(storage, '/one', 1, 300), 'per s', [one, DISK]),
    compared('creates, 64 writers', await creates(storage, '/many', 64, 200), 'per s', [
      many,
      DISK,
    ]),
  ]
  await storage.close()
  return rows
}

async function benchSize(folder: string, size: number): Promise<BenchRow[]> {
  const storage = await openLmdbStorage(folder)
  const keys = Array.from({length: size}, (_, index) => `/registry/things/ns/name-${index}`)
  for (let from = 0; from < size; from += 2_000) {
    await Promise.all(keys.slice(from, from + 2_000).map((key) => storage.create(key, VALUE)))
  }
  const map = new Map(keys.map((key) => [key, VALUE]))
  const picks = Array.from({length: 20_000}, () => keys[Math.floor(Math.random() * size)] ?? '')
  const gets = await perSecond(picks.length, async () => {
    for (const key of picks) await storage.get(key)
  })
  const mapGets = await perSecond(picks.length, async () => {
    for (const key of picks) await Promise.resolve(map.get(key))
  })
  const rounds = Math.max(1, Math.floor(20_000 / size))
  const listed = await perSecond(rounds * size, async () => {
    for (let round = 0; round < rounds; round++) await storage.list('/registry/things/')
  })
  const pages = await perSecond(50, async () => {
    for (let page = 0; page < 50; page++) {
      await storage.list('/registry/things/', {limit: PAGE, after: keys[page * 7] ?? ''})
    }
  })
  const added = await creates(storage, '/added', 64, 50)
  await storage.close()
  const reopened = await milliseconds(async () => (await openLmdbStorage(folder)).close())
  return [
    compared(`gets at ${size} keys`, gets, 'per s', [mapGets, 'a Map']),
    {name: `entries listed at ${size} keys`, value: listed, unit: 'per s'},
    {name: `pages of ${PAGE} at ${size} keys`, value: pages, unit: 'per s'},
    {name: `creates, 64 writers, at ${size} keys`, value: added, unit: 'per s'},
    {name: `opening at ${size} keys`, value: reopened, unit: 'ms'},
  ]
}

async function creates(
  storage: Storage,
  prefix: string,
  writers: number,
  each: number,
): Promise<number> {
  const writer = async (name: number) => {
    for (let step = 0; step < each; step++) await storage.create(`${prefix}/${name}/${step}`, VALUE)
  }
  return perSecond(writers * each, async () => {
    await Promise.all(Array.from({length: writers}, (_, name) => writer(name)))
  })
}

/** The least a durable write can cost: appending the values, then waiting for the disk. */
async function rawAppends(file: string, commits: number, together: number): Promise<number> {
  const handle = await open(file, 'a')
  const bytes = Buffer.concat(Array.from({length: together}, () => VALUE))
  const rate = await perSecond(commits * together, async () => {
    for (let commit = 0; commit < commits; commit++) {
      await handle.write(bytes)
      await handle.datasync()
    }
  })
  await handle.close()
  return rate
}

async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  return (count / (await milliseconds(work))) * 1_000
}
