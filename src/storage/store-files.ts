import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import type {Stats} from 'node:fs'
import {join} from 'node:path'
import {messageOf, systemCode, TrustError} from '../errors.ts'
import {HEADER_KEY, openLmdb} from './lmdb-records.ts'
import {encodeHeader, foreign, newHeader} from './store-header.ts'

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
 * Sees that there is a data file. A new one is made aside and renamed, so a file under its name is whole from the start, and an
 * empty or short one is damage and never the trace of an interrupted start.
 */
export async function prepareData(files: StoreFiles): Promise<void> {
  try {
    const existing = statOf(files.data)
    if (!existing) await createData(files)
    else if (!existing.isFile()) throw foreign(`${files.data} is not a file`)
    chmodSync(files.data, 0o600)
    rmSync(files.readers, {force: true})
    createPrivate(files.readers)
  } catch (error) {
    throw fileError(error, files.data)
  }
}

async function createData({folder, data}: StoreFiles): Promise<void> {
  const aside = join(folder, 'new.mdb')
  const asideReaders = `${aside}-lock`
  for (const file of [aside, asideReaders]) {
    rmSync(file, {force: true})
    createPrivate(file)
  }
  const database = openLmdb(aside)
  try {
    await database.put(HEADER_KEY, encodeHeader(newHeader()))
  } finally {
    await database.close()
  }
  renameSync(aside, data)
  rmSync(asideReaders)
  syncFolder(folder)
  syncFolder(join(folder, '..'))
}

function createPrivate(file: string): void {
  closeSync(openSync(file, 'wx', 0o600))
  chmodSync(file, 0o600)
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function statOf(file: string): Stats | undefined {
  return lstatSync(file, {throwIfNoEntry: false})
}

/** Turns an error of the system into one that says what to do. */
export function fileError(error: unknown, file: string): unknown {
  if (error instanceof TrustError || !systemCode(error)) return error
  return new TrustError('FILE_UNWRITABLE', `cannot use ${file}: ${messageOf(error)}`, {
    cause: error,
    hints: ['see that the folder exists on a disk with room, and that this user may write to it'],
  })
}
