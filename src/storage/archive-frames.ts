import {createHash, type Hash} from 'node:crypto'
import {TrustError} from '../errors.ts'

/** The first bytes of an archive: a snapshot of a store, or a backup of a whole control plane. */
export const ARCHIVE_MAGIC = Buffer.from('TRUSTADM-ARCHIVE\n')
const VERSION = 1

/** Far more than an object takes. */
const LARGEST_FRAME = 64 * 2 ** 20
const FRAME_HEADER = 5
const DIGEST_BYTES = 32

/**
 * An archive is the magic, then frames: a letter, a length in four bytes, and the content. The first is the header, the last one
 * the SHA-256 of everything before it.
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

export interface Frame {
  type: FrameType
  content: Buffer
}

/** What an archive says about itself first. */
export interface ArchiveHeader {
  version: number
  kind: 'store' | 'control-plane'
  createdAt: string
  /** The version of trustadm that wrote it. */
  program: string
  /** The revision of the store that it holds. */
  revision: number
  /** Of a control plane: where it was. */
  dir?: string
  certificatesDir?: string
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

  async end(): Promise<string> {
    const digest = this.#hash.copy().digest()
    await this.frame('end', digest)
    return digest.toString('hex')
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

function parseHeader(content: Buffer): ArchiveHeader {
  let header: Partial<ArchiveHeader> | null
  try {
    header = JSON.parse(content.toString()) as Partial<ArchiveHeader> | null
  } catch (error) {
    throw invalidArchive('its header cannot be read', error)
  }
  const {version, kind, createdAt, program, revision} = header ?? {}
  if (typeof version === 'number' && version > VERSION) throw newerArchive(version)
  const isWhole =
    version === VERSION &&
    (kind === 'store' || kind === 'control-plane') &&
    typeof createdAt === 'string' &&
    typeof program === 'string' &&
    Number.isSafeInteger(revision)
  if (!isWhole) throw invalidArchive('its header is not one of an archive')
  return header as ArchiveHeader
}

/** Handles one frame that is neither the first nor the last. */
export type OnFrame = (frame: Frame) => Promise<void> | void

/** Reads an archive to its end, and checks its form and its checksum. */
export async function readArchive(
  source: AsyncIterable<Buffer>,
  onHeader: (header: ArchiveHeader) => Promise<void> | void,
  onFrame: OnFrame,
): Promise<{header: ArchiveHeader; digest: string}> {
  const bytes = new Bytes(source)
  try {
    return await readFrames(bytes, onHeader, onFrame)
  } finally {
    await bytes.close()
  }
}

async function readFrames(
  bytes: Bytes,
  onHeader: (header: ArchiveHeader) => Promise<void> | void,
  onFrame: OnFrame,
): Promise<{header: ArchiveHeader; digest: string}> {
  const hash = createHash('sha256')
  const magic = await bytes.take(ARCHIVE_MAGIC.length)
  if (!magic.equals(ARCHIVE_MAGIC)) throw invalidArchive('it does not begin as one')
  hash.update(magic)
  let header: ArchiveHeader | undefined
  for (;;) {
    const start = await bytes.take(FRAME_HEADER)
    if (start.length < FRAME_HEADER) throw invalidArchive('it ends early')
    const type = TYPES.get(String.fromCharCode(start[0] ?? 0))
    const length = start.readUInt32BE(1)
    if (type === undefined || length > LARGEST_FRAME) throw invalidArchive('it was altered')
    const content = await bytes.take(length)
    if (content.length < length) throw invalidArchive('it ends early')
    if (type === 'end') {
      const digest = hash.digest()
      const isRight = content.length === DIGEST_BYTES && content.equals(digest)
      if (!header || !isRight) throw invalidArchive('its checksum is wrong, so it was altered')
      if ((await bytes.take(1)).length > 0) throw invalidArchive('something follows its end')
      return {header, digest: digest.toString('hex')}
    }
    hash.update(start)
    hash.update(content)
    if ((type === 'header') === (header !== undefined)) throw invalidArchive('it was altered')
    if (type === 'failure') throw failureIn(content)
    if (header) await onFrame({type, content})
    else {
      header = parseHeader(content)
      await onHeader(header)
    }
  }
}

/** What a server that streams its store met on the way. */
function failureIn(content: Buffer): TrustError {
  return new TrustError('SERVER_ERROR', `the server cannot make a snapshot: ${content.toString()}`)
}
