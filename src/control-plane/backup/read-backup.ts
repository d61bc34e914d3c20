import {constants} from 'node:fs'
import {open} from 'node:fs/promises'
import {systemCode, TrustError} from '../../errors.ts'
import {unreadable, unsafe} from '../../fs/file-checks.ts'
import {
  invalidArchive,
  readArchive,
  type ArchiveEnd,
  type ArchiveHeader,
} from '../../storage/archive-frames.ts'
import {ContentHash} from '../../storage/copy-store.ts'
import type {VersionRecord} from '../../storage/record-store.ts'
import {decodeEntries} from '../../storage/snapshot.ts'
import {isLeftOut, requireFewFiles, sizeLimitOf} from './plane-files.ts'
import {SEALED_MAGIC, unseal} from './seal.ts'

/** What is in a backup. */
export interface BackupContent {
  header: ArchiveHeader
  end: ArchiveEnd
  /** The same for two backups with the same objects. */
  objects: string
  isEncrypted: boolean
}

/** Gets the content of a backup, in order. */
export interface BackupSink {
  records?: (records: VersionRecord[]) => Promise<void>
  files?: {
    begin(name: string): Promise<void>
    write(bytes: Buffer): Promise<void>
    end(): Promise<void>
  }
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
    hints: ['give the path of a file that "trustadm backup" has written'],
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

/** Reads a whole backup, and refuses what cannot be one. Without a sink nothing is done but that. */
export async function readBackup(
  path: string,
  passphrase: Buffer | undefined,
  {records: onRecords, files}: BackupSink = {},
): Promise<BackupContent> {
  const {source, isEncrypted} = await openBackup(path, passphrase)
  const objects = new ContentHash()
  const names = new Set<string>()
  let header: ArchiveHeader | undefined
  let keys = 0
  /** What is left of the current file. */
  let left = 0
  for await (const part of readArchive(source)) {
    if (part.type === 'data') {
      if (part.content.length === 0 || part.content.length > left)
        throw invalidArchive('a file in it is longer than announced')
      left -= part.content.length
      await files?.write(part.content)
      if (left === 0) await files?.end()
      continue
    }
    if (left > 0) throw invalidArchive('a file in it is cut off')
    if (part.type === 'header') header = part.header
    else if (part.type === 'entries') {
      const records = decodeEntries(part.content)
      keys += records.length
      for (const record of records) if (!isLeftOut(record.key)) objects.add(record)
      await onRecords?.(records)
    } else if (part.type === 'file') {
      const {name, size} = parseFile(part.content)
      if (size > sizeLimitOf(name)) throw invalidArchive('it contains a file that is too large')
      if (names.has(name)) throw invalidArchive('it contains a file twice')
      requireFewFiles(names.add(name).size)
      left = size
      await files?.begin(name)
      if (size === 0) await files?.end()
    } else if (header) {
      requireWhole(header, part.end, {keys, names})
      return {header, end: part.end, objects: objects.digest(), isEncrypted}
    }
  }
  throw invalidArchive('it ends early')
}

function requireWhole(
  {kind}: ArchiveHeader,
  end: ArchiveEnd,
  {keys, names}: {keys: number; names: ReadonlySet<string>},
): void {
  if (end.keys !== keys || end.files !== names.size)
    throw invalidArchive('it has other counts than it says')
  if (kind === 'everything' && !names.has('config.yaml'))
    throw invalidArchive('it contains no config.yaml')
  if (kind === 'objects-only' && names.size > 0)
    throw invalidArchive('it says that it has no files')
}
