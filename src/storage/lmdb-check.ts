import {closeSync, fstatSync, openSync} from 'node:fs'
import {damaged, foreign} from './record-codec.ts'
import {number64, PAGE, PAGE_HEADER, PageReader, readMeta} from './lmdb-pages.ts'
import type {Tree} from './lmdb-pages.ts'

const NODE_HEADER = 8
const NODE = {overflow: 0x01, tree: 0x02, duplicates: 0x04} as const

type Visit = (key: Buffer, value: Buffer) => void
type Compare = (left: Buffer, right: Buffer) => number

/**
 * Reads every page and record of an LMDB file before LMDB maps it: LMDB follows whatever a page says, so a flipped bit
 * can crash the process or make it overwrite good pages. Calls back with every record, in the order of the keys.
 */
export function checkLmdbFile(file: string, visit: Visit): void {
  const descriptor = openSync(file, 'r')
  try {
    const meta = readMeta(descriptor)
    const pages = new PageReader(descriptor, meta, fstatSync(descriptor).size)
    const freed: Buffer[] = []
    walk(pages, meta.main, Buffer.compare, visit)
    walk(pages, meta.free, compareNumbers, (_key, value) => freed.push(value))
    for (const list of freed) checkFreePages(pages, list, meta.lastPage)
  } catch (error) {
    throw error instanceof RangeError ? damaged('a page points outside of itself', error) : error
  } finally {
    closeSync(descriptor)
  }
}

function walk(pages: PageReader, tree: Tree, compare: Compare, visit: Visit): void {
  const found = {branches: 0, leaves: 0, overflows: 0, entries: 0}
  let last: Buffer | undefined
  /** The first key of the next records, according to a branch. */
  let floor: Buffer | undefined

  const requireOrder = (key: Buffer, page: number) => {
    if (last && compare(last, key) >= 0) throw damaged(`page ${page} is out of order`)
  }

  const walkBranch = (page: number, depth: number) => {
    if (depth === 1) {
      walkLeaf(page)
      return
    }
    found.branches++
    for (const {bytes, at, key, index} of nodes(pages.read(page, PAGE.branch), page)) {
      // The first node of a branch has no key of its own: it takes all that is smaller.
      if (index > 0) {
        requireOrder(key, page)
        floor = key
      }
      walkBranch(bytes.readUIntLE(at, 6), depth - 1)
    }
  }

  const walkLeaf = (page: number) => {
    found.leaves++
    for (const {bytes, at, flags, key, data} of nodes(pages.read(page, PAGE.leaf), page)) {
      found.entries++
      requireOrder(key, page)
      if (floor && compare(floor, key) > 0) throw damaged(`page ${page} is out of order`)
      last = key
      if (flags & (NODE.tree | NODE.duplicates)) throw foreign('the file holds databases by name')
      const size = bytes.readUInt32LE(at)
      if (flags & NODE.overflow) {
        const {value, pages: used} = pages.readOverflow(number64(bytes, data), size)
        found.overflows += used
        visit(key, value)
      } else {
        if (data + size > bytes.length) throw damaged(`a record leaves page ${page}`)
        visit(key, bytes.subarray(data, data + size))
      }
    }
  }

  if (tree.root !== undefined) walkBranch(tree.root, tree.depth)
  for (const [name, count] of Object.entries(found)) {
    if (tree[name as keyof typeof found] !== count) {
      throw damaged(`it has ${count} ${name}, but should have ${tree[name as keyof typeof found]}`)
    }
  }
}

/** The tree of free pages is keyed by numbers as they lie in memory. */
function compareNumbers(left: Buffer, right: Buffer): number {
  return number64(left, 0) - number64(right, 0)
}

/** The nodes of a page: a list of offsets grows from its header, what they point at from its end. */
function* nodes(bytes: Buffer, page: number) {
  const count = bytes.readUInt16LE(20) >> 1
  const free = PAGE_HEADER + bytes.readUInt16LE(22)
  if (count === 0 || PAGE_HEADER + count * 2 > free || free > bytes.length) {
    throw damaged(`page ${page} has impossible bounds`)
  }
  for (let index = 0; index < count; index++) {
    const at = PAGE_HEADER + bytes.readUInt16LE(PAGE_HEADER + index * 2)
    const data = at + NODE_HEADER + bytes.readUInt16LE(at + 6)
    if (at < free || data > bytes.length) throw damaged(`page ${page} has a node outside of it`)
    const key = bytes.subarray(at + NODE_HEADER, data)
    yield {bytes, at, index, flags: bytes.readUInt16LE(at + 4), key, data}
  }
}

/** A page in use that is also listed as free would be overwritten. Runs of pages are listed as a negative length, then the first. */
function checkFreePages(pages: PageReader, list: Buffer, lastPage: number): void {
  const length = number64(list, 0)
  if ((length + 1) * 8 > list.length) throw damaged('a list of free pages is cut off')
  let run = 1
  for (let index = 1; index <= length; index++) {
    const entry = list.readBigInt64LE(index * 8)
    if (entry < 0n) run = Number(-entry)
    if (entry <= 0n) continue
    const first = Number(entry)
    if (first + run - 1 > lastPage) throw damaged('a page beyond the last one is listed as free')
    for (let page = first; page < first + run; page++) {
      if (pages.isLive(page)) throw damaged(`page ${page} is in use and listed as free`)
    }
    run = 1
  }
}
