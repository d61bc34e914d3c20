import {constants} from 'node:fs'
import {open} from 'node:fs/promises'
import {systemCode, TrustError} from '../../errors.ts'
import {unreadable, unsafe} from '../../fs/file-checks.ts'
import {
  invalidArchive,
  readArchive,
  type ArchiveHeader,
  type Frame,
} from '../../storage/archive-frames.ts'
import type {VersionRecord} from '../../storage/record-store.ts'
import {decodeEntries} from '../../storage/snapshot.ts'
import {requireFewFiles, sizeLimitOf} from './plane-files.ts'
import {SEALED_MAGIC, unseal} from './seal.ts'

/** What is in a backup or a snapshot. */
export interface BackupContent {
  header: ArchiveHeader
  /** The SHA-256 of everything in it. */
  digest: string
  keys: number
  files: number
  isEncrypted: boolean
}

/** Gets the content of a backup, in order. */
export interface BackupSink {
  records?: (records: VersionRecord[]) => Promise<void>
  /** Begins a file; the returned functions get its bytes, and complete it. */
  file?: (
    name: string,
  ) => Promise<{write: (bytes: Buffer) => Promise<void>; end: () => Promise<void>}>
}

const CHUNK = 256 * 1024

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      throw systemCode(error) === 'ENOENT' ? noSuchBackup(path, error) : unreadable(path, error)
    },
  )
  try {
    if (!(await handle.stat()).isFile()) throw unsafe(path, 'it is not a file')
    for (;;) {
      const {bytesRead, buffer} = await handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

const noSuchBackup = (path: string, cause: unknown): TrustError =>
  new TrustError('FILE_UNREADABLE', `there is no file ${path}`, {
    cause,
    hints: ['give the path of a file that "backup" or "store snapshot save" has written'],
  })

/** The plain bytes of an archive, whether it is encrypted or not. */
async function openBackup(
  path: string,
  passphrase: Buffer | undefined,
): Promise<{source: AsyncIterable<Buffer>; isEncrypted: boolean}> {
  let start: Buffer = Buffer.alloc(0)
  for await (const chunk of chunksOf(path)) {
    start = chunk
    break
  }
  const isEncrypted = start.subarray(0, SEALED_MAGIC.length).equals(SEALED_MAGIC)
  if (!isEncrypted) {
    // Anyone can write a plain one: only the passphrase proves where a backup comes from.
    if (passphrase !== undefined) throw notEncrypted(path)
    return {source: chunksOf(path), isEncrypted}
  }
  if (passphrase === undefined) {
    throw new TrustError('USAGE', `${path} is encrypted`, {
      hints: ['name the file with its passphrase: --passphrase-file'],
    })
  }
  return {source: unseal(passphrase, chunksOf(path)), isEncrypted}
}

const notEncrypted = (path: string): TrustError =>
  new TrustError('BACKUP_INVALID', `${path} is not encrypted, though a passphrase was given`, {
    hints: [
      'nothing was changed: use the encrypted copy, or find out who replaced it',
      'if you know that it was made without a passphrase, leave out --passphrase-file',
    ],
  })

/** Follows the frames of an archive, refuses any that cannot be, and passes the content on. */
class ContentReader {
  keys = 0
  files = 0
  readonly #sink: BackupSink
  readonly #names = new Set<string>()
  #left = 0
  #file: Awaited<ReturnType<NonNullable<BackupSink['file']>>> | undefined

  constructor(sink: BackupSink) {
    this.#sink = sink
  }

  async take({type, content}: Frame): Promise<void> {
    if (type === 'data') return await this.#data(content)
    if (this.#left > 0) throw invalidArchive('a file in it is cut off')
    if (type === 'file') return await this.#begin(content)
    const records = decodeEntries(content)
    this.keys += records.length
    await this.#sink.records?.(records)
  }

  end({kind}: ArchiveHeader): void {
    if (this.#left > 0) throw invalidArchive('a file in it is cut off')
    if (kind === 'control-plane' && !this.#names.has('config.yaml')) {
      throw invalidArchive('it contains no config.yaml')
    }
  }

  async #begin(content: Buffer): Promise<void> {
    const {name, size} = parseFile(content)
    if (size > sizeLimitOf(name)) throw invalidArchive('it contains a file that is too large')
    if (this.#names.has(name)) throw invalidArchive('it contains a file twice')
    this.#names.add(name)
    requireFewFiles(++this.files)
    this.#left = size
    this.#file = await this.#sink.file?.(name)
    if (size === 0) await this.#file?.end()
  }

  async #data(content: Buffer): Promise<void> {
    if (content.length === 0 || content.length > this.#left) {
      throw invalidArchive('a file in it is longer than announced')
    }
    this.#left -= content.length
    await this.#file?.write(content)
    if (this.#left === 0) await this.#file?.end()
  }
}

function parseFile(content: Buffer): {name: string; size: number} {
  try {
    const {name, size} = JSON.parse(content.toString()) as {name?: unknown; size?: unknown}
    if (typeof name === 'string' && Number.isSafeInteger(size) && Number(size) >= 0) {
      return {name, size: Number(size)}
    }
  } catch {
    // Reported below.
  }
  throw invalidArchive('a file in it has no name')
}

/** Reads a whole backup or snapshot and checks all of it. Without a sink nothing is done but that. */
export async function readBackup(
  path: string,
  passphrase: Buffer | undefined,
  sink: BackupSink = {},
): Promise<BackupContent> {
  const {source, isEncrypted} = await openBackup(path, passphrase)
  const reader = new ContentReader(sink)
  const {header, digest} = await readArchive(
    source,
    () => undefined,
    (frame) => reader.take(frame),
  )
  reader.end(header)
  return {header, digest, keys: reader.keys, files: reader.files, isEncrypted}
}
