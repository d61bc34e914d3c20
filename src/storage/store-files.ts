import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import type {Stats} from 'node:fs'
import {dirname, join} from 'node:path'
import {messageOf, systemCode, TrustError} from '../errors.ts'
import {commitError, openLmdb, writeFailed} from './lmdb-file.ts'
import {HEADER_KEY} from './lmdb-records.ts'
import {encodeHeader, foreign, newHeader, type StoreHeader} from './record-codec.ts'

/** More than LMDB asks for with its default of 126 readers. */
const READERS_BYTES = 16_384

/** More than a new store takes. */
const FIRST_BYTES = 65_536

export interface StoreFiles {
  folder: string
  data: string
  /** LMDB's table of readers. It holds nothing that outlives a process. */
  readers: string
}

/** Makes the folder of a store, for its owner only whatever the umask is. */
export function prepareFolder(directory: string): StoreFiles {
  const folder = join(directory, 'store')
  try {
    mkdirSync(folder, {recursive: true, mode: 0o700})
    if (!lstatSync(folder).isDirectory()) throw foreign(`${folder} is not a folder`)
    chmodSync(folder, 0o700)
  } catch (error) {
    throw fileError(error, folder)
  }
  return {folder, data: join(folder, 'data.mdb'), readers: join(folder, 'data.mdb-lock')}
}

/**
 * Ensures that there is a data file. A new one is written under another name and renamed, so it is complete from the start.
 * An empty or short file is damage, never the result of an interrupted start.
 */
export async function prepareData(files: StoreFiles): Promise<void> {
  try {
    const existing = statOf(files.data)
    if (!existing) await createData(files)
    else if (!existing.isFile()) throw foreign(`${files.data} is not a file`)
    chmodSync(files.data, 0o600)
    prepareReaders(files.readers)
  } catch (error) {
    throw fileError(error, files.data)
  }
}

async function createData({folder, data}: StoreFiles): Promise<void> {
  const aside = join(folder, 'new.mdb')
  try {
    await createStoreFile(aside, newHeader())
    renameSync(aside, data)
  } finally {
    removeStoreFile(aside)
  }
  syncFolder(folder)
  syncFolder(dirname(folder))
}

/** Makes a store without any key, in place of what a killed process may have left there. */
export async function createStoreFile(file: string, header: StoreHeader): Promise<void> {
  removeStoreFile(file)
  prepareReaders(`${file}-lock`)
  requireRoom(file)
  const database = openLmdb(file)
  try {
    await database.put(HEADER_KEY, encodeHeader(header))
  } catch (error) {
    throw writeFailed(await commitError(error))
  } finally {
    await database.close()
  }
}

/** Removes a store that nobody has open, with its table of readers. */
function removeStoreFile(file: string): void {
  rmSync(file, {force: true})
  rmSync(`${file}-lock`, {force: true})
}

/**
 * LMDB maps this file and writes to the map. A page without space on the disk would then end the process. So the space is
 * allocated in advance, where a failure is an ordinary error.
 */
export function prepareReaders(file: string): void {
  const descriptor = openSync(
    file,
    constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW,
    0o600,
  )
  try {
    fchmodSync(descriptor, 0o600)
    writeFileSync(descriptor, Buffer.alloc(READERS_BYTES))
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Leaves an empty file. The library crashes if there is no space for the first pages, so this is tried first. */
function requireRoom(file: string): void {
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    writeFileSync(descriptor, Buffer.alloc(FIRST_BYTES))
    fsyncSync(descriptor)
    ftruncateSync(descriptor, 0)
  } finally {
    closeSync(descriptor)
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function statOf(file: string): Stats | undefined {
  return lstatSync(file, {throwIfNoEntry: false})
}

/** Turns a system error into one that says what to do. */
export function fileError(error: unknown, file: string): unknown {
  if (error instanceof TrustError || !systemCode(error)) return error
  return new TrustError('FILE_UNWRITABLE', `cannot use ${file}: ${messageOf(error)}`, {
    cause: error,
    hints: ['see that the folder exists on a disk with room, and that this user may write to it'],
  })
}
