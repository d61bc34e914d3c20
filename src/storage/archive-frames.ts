import {createHash, type Hash} from 'node:crypto'
import {isAbsolute} from 'node:path'
import {TrustError} from '../errors.ts'

/** The first bytes of an archive: a backup, or the objects that a server sends. */
export const ARCHIVE_MAGIC = Buffer.from('TRUSTADM-ARCHIVE\n')
const VERSION = 2

/** Far more than an object takes. */
const LARGEST_FRAME = 64 * 2 ** 20
const LARGEST_REASON = 1_000
/** Room above for all writes to come: from 2 ** 53 on, not every number can be told from the next. */
const LARGEST_REVISION = 2 ** 52
const FRAME_HEADER = 5

/**
 * An archive is the magic, then frames: a letter, a length in four bytes, and the content. The first is the header, the last one
 * tells how much there is, with the SHA-256 of everything before it.
 */
export type FrameType = 'header' | 'entries' | 'file' | 'data' | 'failure' | 'end'

const LETTERS: Record<FrameType, string> = {
  header: 'H',
  entries: 'E',
  file: 'F',
  data: 'D',
  failure: 'X',
  end: 'Z',
}
const TYPES = new Map(Object.entries(LETTERS).map(([type, letter]) => [letter, type as FrameType]))

/** What an archive says about itself first. */
export interface ArchiveHeader {
  version: number
  kind: 'everything' | 'objects-only'
  createdAt: string
  /** The version of trustadm that wrote it. */
  program: string
  /** The revision of the store that it holds. */
  revision: number
  /** The control plane, if it holds everything: where it was, and where its objects were. */
  dir?: string
  certificatesDir?: string
  store?: 'embedded' | 'etcd'
}

/** What an archive says about itself last. */
export interface ArchiveEnd {
  /** How many objects and how many files it has. */
  keys: number
  files: number
  /** The SHA-256 of everything before. */
  sha256: string
}

export type Append = (bytes: Uint8Array) => Promise<void>

/** Writes an archive. `append` may wait until there is room. */
export class ArchiveWriter {
  readonly #append: Append
  readonly #hash: Hash = createHash('sha256')
  #isBegun = false

  constructor(append: Append) {
    this.#append = append
  }

  async begin(header: Omit<ArchiveHeader, 'version'>): Promise<void> {
    await this.frame('header', Buffer.from(JSON.stringify({version: VERSION, ...header})))
  }

  async frame(type: FrameType, content: Uint8Array): Promise<void> {
    const start = Buffer.alloc(FRAME_HEADER)
    start.write(LETTERS[type], 'latin1')
    start.writeUInt32BE(content.length, 1)
    const magic = this.#isBegun ? [] : [ARCHIVE_MAGIC]
    this.#isBegun = true
    const bytes = Buffer.concat([...magic, start, content])
    this.#hash.update(bytes)
    await this.#append(bytes)
  }

  async end(counts: Omit<ArchiveEnd, 'sha256'>): Promise<ArchiveEnd> {
    const end = {...counts, sha256: this.#hash.copy().digest('hex')}
    await this.frame('end', Buffer.from(JSON.stringify(end)))
    return end
  }
}

export const invalidArchive = (what: string, cause?: unknown): TrustError =>
  new TrustError('BACKUP_INVALID', `this is not a complete backup of trustadm: ${what}`, {
    cause,
    hints: ['nothing was changed: use another copy of the file'],
  })

const newerArchive = (version: number): TrustError =>
  new TrustError(
    'BACKUP_NEWER',
    `a newer trustadm wrote this backup: it has format ${version}, this program reads up to ${VERSION}`,
    {
      hints: ['nothing was changed: upgrade trustadm on this machine, then run the command again'],
      facts: {format: version, supported: VERSION},
    },
  )

const olderArchive = (version: number): TrustError =>
  new TrustError(
    'BACKUP_INVALID',
    `an earlier trustadm wrote this backup: it has format ${version}, this program reads ${VERSION}`,
    {
      hints: ['nothing was changed: restore it with that version, then upgrade and back up again'],
      facts: {format: version, supported: VERSION},
    },
  )

/** Takes bytes as they come, and hands them out in the lengths asked for. */
class Bytes {
  readonly #source: AsyncIterator<Buffer>
  #chunks: Buffer[] = []
  #length = 0

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Fewer bytes only at the end. */
  async take(length: number): Promise<Buffer> {
    while (this.#length < length) {
      const next = await this.#source.next()
      if (next.done) break
      this.#chunks.push(next.value)
      this.#length += next.value.length
    }
    const [first, ...more] = this.#chunks
    const all = first && more.length === 0 ? first : Buffer.concat(this.#chunks)
    const taken = all.subarray(0, length)
    const rest = all.subarray(length)
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#length = rest.length
    return taken
  }

  /** Releases the source, also if it was not read to its end. */
  async close(): Promise<void> {
    await this.#source.return?.()
  }
}

/** These are printed. */
const isShortText = (value: unknown): boolean =>
  typeof value === 'string' && /^[ -~]{1,100}$/.test(value)

const isPath = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && isAbsolute(value))

function parseHeader(content: Buffer): ArchiveHeader {
  let header: Partial<ArchiveHeader> | null
  try {
    header = JSON.parse(content.toString()) as Partial<ArchiveHeader> | null
  } catch (error) {
    throw invalidArchive('its header cannot be read', error)
  }
  const {version, kind, createdAt, program, revision = -1, store} = header ?? {}
  if (typeof version === 'number' && version > VERSION) throw newerArchive(version)
  if (version === 1) throw olderArchive(version)
  const isWhole =
    version === VERSION &&
    (kind === 'everything' || kind === 'objects-only') &&
    isShortText(createdAt) &&
    isShortText(program) &&
    Number.isSafeInteger(revision) &&
    revision >= 0 &&
    revision <= LARGEST_REVISION &&
    (store === undefined || store === 'embedded' || store === 'etcd') &&
    isPath(header?.dir) &&
    isPath(header?.certificatesDir)
  if (!isWhole) throw invalidArchive('its header is not one of an archive')
  return header as ArchiveHeader
}

function parseEnd(content: Buffer): ArchiveEnd {
  try {
    return {...(JSON.parse(content.toString()) as ArchiveEnd)}
  } catch (error) {
    throw invalidArchive('its end cannot be read', error)
  }
}

/** A piece of an archive. The header comes first, the end last. */
export type ArchivePart =
  | {type: 'header'; header: ArchiveHeader}
  | {type: 'entries'; content: Buffer}
  | {type: 'file'; content: Buffer}
  | {type: 'data'; content: Buffer}
  | {type: 'end'; end: ArchiveEnd}

/** Reads an archive to its end, and checks its form and its checksum. */
export async function* readArchive(source: AsyncIterable<Buffer>): AsyncGenerator<ArchivePart> {
  const bytes = new Bytes(source)
  const hash = createHash('sha256')
  try {
    const magic = await bytes.take(ARCHIVE_MAGIC.length)
    if (!magic.equals(ARCHIVE_MAGIC)) throw invalidArchive('it does not begin as one')
    hash.update(magic)
    for (let isBegun = false; ; isBegun = true) {
      const start = await bytes.take(FRAME_HEADER)
      if (start.length < FRAME_HEADER) throw invalidArchive('it ends early')
      const type = TYPES.get(String.fromCharCode(start[0] ?? 0))
      const length = start.readUInt32BE(1)
      const isRight =
        type !== undefined && length <= LARGEST_FRAME && (type === 'header') !== isBegun
      if (!isRight) throw invalidArchive('it was altered')
      const content = await bytes.take(length)
      if (content.length < length) throw invalidArchive('it ends early')
      if (type === 'end') {
        const end = parseEnd(content)
        if (end.sha256 !== hash.digest('hex'))
          throw invalidArchive('its checksum is wrong, so it was altered')
        if ((await bytes.take(1)).length > 0) throw invalidArchive('something follows its end')
        yield {type, end}
        return
      }
      hash.update(start).update(content)
      if (type === 'failure') throw failureIn(content)
      yield type === 'header' ? {type, header: parseHeader(content)} : {type, content}
    }
  } finally {
    await bytes.close()
  }
}

/** What a server that streams its store met on the way. A file may have anything there. */
function failureIn(content: Buffer): TrustError {
  const reason = content.toString('utf8', 0, LARGEST_REASON)
  return new TrustError('SERVER_ERROR', `the server cannot send its objects: ${reason}`)
}
