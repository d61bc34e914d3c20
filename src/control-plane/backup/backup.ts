import {open, stat} from 'node:fs/promises'
import {TrustError} from '../../errors.ts'
import {lookAt, unreadable} from '../../fs/file-checks.ts'
import {writeStreamSafely} from '../../fs/stream-file.ts'
import type {Clock} from '../../runtime.ts'
import {
  ARCHIVE_MAGIC,
  ArchiveWriter,
  invalidArchive,
  readArchive,
  type Append,
  type ArchiveEnd,
  type ArchiveHeader,
} from '../../storage/archive-frames.ts'
import {decodeEntries, encodeEntries} from '../../storage/snapshot.ts'
import {etcdOf} from '../config/etcd.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {loadPlane} from '../config/stored.ts'
import {exclusively, lockId, type Tell} from '../exclusive.ts'
import {isLeftOut, planeFiles, type PlaneFile} from './plane-files.ts'
import {readBackup} from './read-backup.ts'
import {seal, SEALED_MAGIC} from './seal.ts'
import {readStore} from './store-source.ts'

/** What is in a backup, as `restore --dry-run` prints it. */
export interface ArchiveReport extends ArchiveEnd, Omit<ArchiveHeader, 'version' | keyof Place> {
  file: string
  bytes: number
  encrypted: boolean
}

type Place = Pick<ArchiveHeader, 'dir' | 'certificatesDir'>

/** What `backup` prints. */
export interface BackupReport extends ArchiveReport {
  /** Files that the settings name elsewhere: they are not in it. */
  leftOut: string[]
}

export interface BackupOptions {
  clock: Clock
  /** Without files, and so without private keys of the control plane. */
  objectsOnly?: boolean | undefined
  passphrase?: Buffer | undefined
  tell?: Tell | undefined
}

const PIECE = 2 ** 20

/** Only a backup is replaced by a backup: a mistyped name must not cost another file. */
async function requireOverwritable(file: string): Promise<void> {
  if (!(await lookAt(file))?.isFile()) return
  const handle = await open(file, 'r').catch((error: unknown) => {
    throw unreadable(file, error)
  })
  try {
    const {buffer, bytesRead} = await handle.read(Buffer.alloc(32), 0, 32, 0)
    const start = buffer.subarray(0, bytesRead)
    const isOne = [ARCHIVE_MAGIC, SEALED_MAGIC].some((magic) =>
      start.subarray(0, magic.length).equals(magic),
    )
    if (isOne) return
  } finally {
    await handle.close()
  }
  throw new TrustError('ALREADY_EXISTS', `${file} exists, and is not a backup`, {
    hints: ['choose another name, or remove the file'],
  })
}

async function addFile(writer: ArchiveWriter, {name, path}: PlaneFile): Promise<void> {
  const handle = await open(path, 'r').catch((error: unknown) => {
    throw unreadable(path, error)
  })
  try {
    // What is appended to a log from now on is left out.
    const {size} = await handle.stat()
    await writer.frame('file', Buffer.from(JSON.stringify({name, size})))
    for (let done = 0; done < size;) {
      const length = Math.min(PIECE, size - done)
      const {bytesRead, buffer} = await handle.read(Buffer.alloc(length), 0, length, done)
      if (bytesRead === 0) throw new TrustError('CONFLICT', `${path} was cut off while it was read`)
      await writer.frame('data', buffer.subarray(0, bytesRead))
      done += bytesRead
    }
  } finally {
    await handle.close()
  }
}

/** The store, from the one who has it open, with the files behind it. */
async function writeArchive(
  plane: Plane,
  {clock, objectsOnly = false, tell}: BackupOptions,
  append: Append,
): Promise<{header: ArchiveHeader; end: ArchiveEnd; leftOut: string[]}> {
  const writer = new ArchiveWriter(append)
  const about: Partial<ArchiveHeader> = objectsOnly
    ? {}
    : {
        kind: 'everything',
        dir: plane.dir,
        certificatesDir: certDirOf(plane),
        store: etcdOf(plane.settings) ? 'etcd' : 'embedded',
      }
  let keys = 0
  const header = await readStore(plane, {clock, tell}, async (source) => {
    let found: ArchiveHeader | undefined
    for await (const part of readArchive(source)) {
      if (part.type === 'header') {
        found = {...part.header, ...about}
        await writer.begin(found)
      } else if (part.type === 'entries') {
        const all = decodeEntries(part.content)
        const records = objectsOnly ? all.filter(({key}) => !isLeftOut(key)) : all
        keys += records.length
        await writer.frame('entries', encodeEntries(records))
      }
    }
    return found
  })
  if (!header) throw invalidArchive('it ends early')
  // After the store: a certificate is in the issuance log before it is in the store.
  const {files, leftOut} = objectsOnly ? {files: [], leftOut: []} : await planeFiles(plane)
  for (const file of files) await addFile(writer, file)
  const end = await writer.end({keys, files: files.length})
  return {header, end, leftOut}
}

/** Backs up a control plane, while its server runs or not. Writes one whole file, or nothing. */
export async function backUp(
  dir: string,
  file: string,
  options: BackupOptions,
): Promise<BackupReport> {
  const {passphrase, objectsOnly, tell} = options
  const work = async (writer?: string): Promise<BackupReport> => {
    const plane = await loadPlane(dir)
    await requireOverwritable(file)
    const write = (append: Append) => writeArchive(plane, options, append)
    const {header, end, leftOut} = await writeStreamSafely(
      file,
      (append) => (passphrase === undefined ? write(append) : seal(passphrase, append, write)),
      writer,
    )
    return {...(await reportOf(file, header, end, passphrase !== undefined)), leftOut}
  }
  await loadPlane(dir)
  if (objectsOnly) return await work()
  // No other command changes certificates or settings meanwhile.
  return await exclusively(dir, async () => await work(await lockId(dir)), tell)
}

async function reportOf(
  file: string,
  {kind, createdAt, program, revision, store}: ArchiveHeader,
  {keys, files, sha256}: ArchiveEnd,
  encrypted: boolean,
): Promise<ArchiveReport> {
  const {size: bytes} = await stat(file)
  const about = {file, kind, createdAt, program, revision, keys, files, bytes, sha256, encrypted}
  return {...about, ...(store && {store})}
}

/** Checks a backup as a whole, and tells what is in it. */
export async function describeBackup(
  file: string,
  passphrase: Buffer | undefined,
): Promise<ArchiveReport> {
  const {header, end, isEncrypted} = await readBackup(file, passphrase)
  return await reportOf(file, header, end, isEncrypted)
}
