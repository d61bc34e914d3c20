import {readSync} from 'node:fs'
import {damaged, foreign} from './record-codec.ts'

/** The layout of an LMDB data file (format 2, 64 bits, little endian), as far as checking it needs. */
const MAGIC = 0xbeefc0de
const DATA_VERSION = 2
export const PAGE_HEADER = 24
const META_BYTES = 168
/** There is no way to tell whether a later trustadm or another program wrote it. */
const OTHER_FORMAT = [
  'nothing was changed: if a newer trustadm wrote it, upgrade trustadm on this machine',
  'if it is of another program, choose another folder with "--dir"',
]
const NO_PAGE = 0xffffffffffffffffn

export const PAGE = {branch: 0x01, leaf: 0x02, overflow: 0x04, meta: 0x08} as const
/** Marks that LMDB uses in memory and that may stay on a page on disk. */
const TRANSIENT_FLAGS = 0xe000

/** One B-tree as a meta page describes it. */
export interface Tree {
  depth: number
  branches: number
  leaves: number
  overflows: number
  entries: number
  /** Absent for an empty tree. */
  root?: number
}

export interface Meta {
  pageSize: number
  lastPage: number
  transaction: number
  free: Tree
  main: Tree
}

/** Reads with pread: a file that ends early is an error here and a bus error in a memory map. */
export class PageReader {
  readonly #descriptor: number
  readonly #pageSize: number
  readonly #pages: number
  readonly #seen = new Set<number>()

  constructor(descriptor: number, meta: Meta, fileSize: number) {
    this.#descriptor = descriptor
    this.#pageSize = meta.pageSize
    this.#pages = Math.min(meta.lastPage + 1, Math.floor(fileSize / meta.pageSize))
  }

  get pageSize(): number {
    return this.#pageSize
  }

  isLive(page: number): boolean {
    return this.#seen.has(page)
  }

  /** Returns the page after checking its kind, its number, and that it was not visited before. */
  read(page: number, kind: number): Buffer {
    this.#claim(page, 1)
    const bytes = this.#bytes(page * this.#pageSize, this.#pageSize)
    if (number64(bytes, 0) !== page) throw damaged(`page ${page} carries another number`)
    if ((bytes.readUInt16LE(18) & ~TRANSIENT_FLAGS) !== kind) {
      throw damaged(`page ${page} is of another kind than expected`)
    }
    return bytes
  }

  /** A value too large for a leaf lies on pages of its own. */
  readOverflow(page: number, size: number): {value: Buffer; pages: number} {
    const pages = this.read(page, PAGE.overflow).readUInt32LE(20)
    if (pages * this.#pageSize < size + PAGE_HEADER) throw damaged(`page ${page} has too few pages`)
    this.#claim(page + 1, pages - 1)
    return {value: this.#bytes(page * this.#pageSize + PAGE_HEADER, size), pages}
  }

  #claim(first: number, count: number): void {
    for (let page = first; page < first + count; page++) {
      if (page < 2 || page >= this.#pages) throw damaged(`it refers to page ${page}, not there`)
      if (this.#seen.has(page)) throw damaged(`page ${page} is used twice`)
      this.#seen.add(page)
    }
  }

  #bytes(offset: number, size: number): Buffer {
    const bytes = Buffer.allocUnsafe(size)
    if (readSync(this.#descriptor, bytes, 0, size, offset) !== size) throw damaged('it ends early')
    return bytes
  }
}

/** The newest of the two meta pages, both checked. Transactions write them in turn. */
export function readMeta(descriptor: number): Meta {
  const first = readMetaPage(descriptor, 0)
  const second = readMetaPage(descriptor, first.pageSize)
  const [older, newer] = first.transaction <= second.transaction ? [first, second] : [second, first]
  const inTurn = newer === (newer.transaction % 2 === 0 ? first : second)
  if (newer.transaction > 0 && !(inTurn && newer.transaction - older.transaction === 1)) {
    throw damaged('its two meta pages do not follow one another')
  }
  return newer
}

function readMetaPage(descriptor: number, offset: number): Meta {
  const page = Buffer.alloc(META_BYTES)
  const size = readSync(descriptor, page, 0, META_BYTES, offset)
  if (size === 0) throw damaged(offset === 0 ? 'the file is empty' : 'it ends early')
  if (size < 32 || page.readUInt32LE(PAGE_HEADER) !== MAGIC) {
    throw offset === 0 ? foreign('the file is not an LMDB database') : damaged('a meta page is bad')
  }
  if (page.readUInt32LE(PAGE_HEADER + 4) !== DATA_VERSION) {
    throw foreign('the file is an LMDB database of another format', OTHER_FORMAT)
  }
  if (size < META_BYTES || page.readUInt16LE(18) !== PAGE.meta) throw damaged('a meta page is bad')
  const pageSize = page.readUInt32LE(PAGE_HEADER + 24)
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) {
    throw damaged(`it has pages of ${pageSize} bytes`)
  }
  return {
    pageSize,
    free: readTree(page, PAGE_HEADER + 24),
    main: readTree(page, PAGE_HEADER + 72),
    lastPage: number64(page, PAGE_HEADER + 120),
    transaction: number64(page, PAGE_HEADER + 128),
  }
}

function readTree(page: Buffer, at: number): Tree {
  const tree = {
    depth: page.readUInt16LE(at + 6),
    branches: number64(page, at + 8),
    leaves: number64(page, at + 16),
    overflows: number64(page, at + 24),
    entries: number64(page, at + 32),
  }
  return page.readBigUInt64LE(at + 40) === NO_PAGE ? tree : {...tree, root: number64(page, at + 40)}
}

export function number64(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64LE(at)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged('it holds a number out of range')
  return Number(value)
}
