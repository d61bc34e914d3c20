import {open, stat} from 'node:fs/promises'
import {TrustError} from '../../errors.ts'
import {lookAt, unreadable} from '../../fs/file-checks.ts'
import {writeStreamSafely} from '../../fs/stream-file.ts'
import type {Clock} from '../../runtime.ts'
import {
  ARCHIVE_MAGIC,
  ArchiveWriter,
  readArchive,
  type Append,
  type ArchiveHeader,
} from '../../storage/archive-frames.ts'
import {decodeEntries} from '../../storage/snapshot.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {loadPlane} from '../config/stored.ts'
import {exclusively, lockId, type Tell} from '../exclusive.ts'
import {planeFiles, type PlaneFile, type PlaneFiles} from './plane-files.ts'
import {seal, SEALED_MAGIC} from './seal.ts'
import {readStore} from './store-source.ts'

/** What `backup` and `store snapshot save` print. */
export interface BackupReport {
  file: string
  kind: ArchiveHeader['kind']
  createdAt: string
  revision: number
  keys: number
  /** How many files of the control plane it contains. */
  files: number
  /** Files that the settings name elsewhere: they are not in it. */
  leftOut: string[]
  bytes: number
  /** The checksum that it ends with. */
  sha256: string
  encrypted: boolean
}

export interface BackupOptions {
  clock: Clock
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

/** Writes one file, with the whole archive that `write` makes, or nothing. */
async function writeBackup(
  file: string,
  {passphrase}: BackupOptions,
  write: (append: Append) => Promise<Omit<BackupReport, 'file' | 'bytes' | 'encrypted'>>,
  writer?: string,
): Promise<BackupReport> {
  await requireOverwritable(file)
  const done = await writeStreamSafely(
    file,
    (append) => (passphrase === undefined ? write(append) : seal(passphrase, append, write)),
    writer,
  )
  const {size: bytes} = await stat(file)
  return {file, ...done, bytes, encrypted: passphrase !== undefined}
}

/** The store, from the one who has it open, with more behind it. */
async function writeArchive(
  plane: Plane,
  clock: Clock,
  append: Append,
  {about, files}: {about: Partial<ArchiveHeader>; files: () => Promise<PlaneFiles>},
): Promise<Omit<BackupReport, 'file' | 'bytes' | 'encrypted'>> {
  const writer = new ArchiveWriter(append)
  let keys = 0
  const {header} = await readStore(plane, clock, (source) =>
    readArchive(
      source,
      (found) => writer.begin({...found, ...about}),
      async ({content}) => {
        keys += decodeEntries(content).length
        await writer.frame('entries', content)
      },
    ),
  )
  // After the store: a certificate is in the issuance log before it is in the store.
  const {files: added, leftOut} = await files()
  for (const file of added) await addFile(writer, file)
  const {createdAt, revision} = header
  const kind = about.kind ?? 'store'
  const sha256 = await writer.end()
  return {kind, createdAt, revision, keys, files: added.length, leftOut, sha256}
}

/** Backs up a control plane, store and files, while its server runs or not. */
export async function backUpPlane(
  dir: string,
  file: string,
  options: BackupOptions,
): Promise<BackupReport> {
  await loadPlane(dir)
  // No other command changes certificates or settings meanwhile.
  return await exclusively(
    dir,
    async () => {
      const plane = await loadPlane(dir)
      const about = {kind: 'control-plane', dir, certificatesDir: certDirOf(plane)} as const
      const write = (append: Append) =>
        writeArchive(plane, options.clock, append, {about, files: () => planeFiles(plane)})
      return await writeBackup(file, options, write, await lockId(dir))
    },
    options.tell,
  )
}

/** Saves the store alone. */
export async function saveStore(
  dir: string,
  file: string,
  options: BackupOptions,
): Promise<BackupReport> {
  const plane = await loadPlane(dir)
  const nothing = {files: [], leftOut: []}
  const none = {about: {kind: 'store'} as const, files: () => Promise.resolve(nothing)}
  return await writeBackup(file, options, (append) =>
    writeArchive(plane, options.clock, append, none),
  )
}
