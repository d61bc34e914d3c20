import {existsSync, linkSync, lstatSync, renameSync, rmdirSync, rmSync} from 'node:fs'
import {chmod, mkdir, readdir, rename} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {systemCode} from '../errors.ts'
import {isOurs, lookAt, requireReplaceable, unsafe, unwritable} from './file-checks.ts'
import {readFileIfThere, writeNewFile} from './files.ts'
import {requireOwnFolder, requireSafeFolder, syncFolder} from './folders.ts'
import {removeOwn, takeTemporary} from './temporary-names.ts'

/** Whether existing files are replaced, or stop the operation. */
type Placement = 'replace' | 'create'

// Synchronous, so that as little time as possible lies between the steps. Each step can be repeated, by several processes.

function allowing(codes: string[], act: () => void): void {
  try {
    act()
  } catch (error) {
    if (!codes.includes(systemCode(error) ?? '')) throw error
  }
}

function isSameFile(left: string, right: string): boolean {
  const [one, other] = [lstatSync(left), lstatSync(right)]
  return one.ino === other.ino && one.dev === other.dev
}

function isTaken(staged: string, placed: string): boolean {
  return existsSync(placed) && !isSameFile(staged, placed)
}

/** A hard link, unlike a rename, never takes the place of another file. */
function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return isSameFile(from, to)
    throw error
  }
}

function linkAll(folder: string, staged: string, names: readonly string[]): void {
  if (names.some((name) => isTaken(join(staged, name), join(folder, name)))) return
  if (names.every((name) => linkNew(join(staged, name), join(folder, name)))) return
  // One of the files was created in between: what was linked is removed again.
  for (const name of names) {
    const placed = join(folder, name)
    allowing(['ENOENT'], () => {
      if (isSameFile(join(staged, name), placed)) rmSync(placed)
    })
  }
}

/** Of trustadm alone: in a folder that somebody has named, other programs have files, too. */
const DONE = /^\.(.+)\.trustadm-done$/

/**
 * Renamed away in one step: the next process must not find half of a group. It has a fixed name, so that any process can finish this
 * after a crash: until then, the files that were placed have a second name.
 */
async function discard(staged: string): Promise<void> {
  const done = staged.replace(/create$/, 'trustadm-done')
  for (let attempt = 1; attempt <= MOST_ATTEMPTS && existsSync(staged); attempt += 1) {
    await removeOwn(done)
    // Another process may discard one at the same time.
    allowing(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => renameSync(staged, done))
  }
  await removeOwn(done)
}

/** Moves the staged files into the folder. */
async function putInPlace(
  folder: string,
  staged: string,
  names: readonly string[],
  placement: Placement,
): Promise<void> {
  if (placement === 'create') {
    linkAll(folder, staged, names)
    await discard(staged)
    return
  }
  for (const name of names) {
    allowing(['ENOENT'], () => renameSync(join(staged, name), join(folder, name)))
  }
  allowing(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => rmdirSync(staged))
}

/** One of several files that belong together, such as a key and its certificate. */
export interface GroupFile {
  name: string
  data: string
}

/**
 * How several files of one folder change together. All are written to a temporary folder; renaming it to a fixed name is the
 * commit. Every step after that can be repeated by any process that finds that folder. So after a crash the group is either the
 * old one or the new one, never a mix.
 */
const SUFFIXES: Record<string, Placement> = {new: 'replace', create: 'create'}
const STAGED = /^\.(.+)\.(new|create)$/
const MOST_ATTEMPTS = 100
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

async function writeAside(path: string, files: readonly GroupFile[]): Promise<void> {
  await mkdir(path, FOLDER_MODE)
  await chmod(path, FOLDER_MODE)
  for (const {name, data} of files) await writeNewFile(join(path, name), data, FILE_MODE)
  await syncFolder(path)
}

async function moveInto(folder: string, staged: string, placement: Placement): Promise<void> {
  const stats = await lookAt(staged)
  if (!stats) return
  await requireOwnFolder(staged, stats)
  const names = await readdir(staged)
  // The names come from the disk: hidden ones are not ours.
  if (names.some((name) => name.startsWith('.'))) throw unsafe(staged, 'it contains unknown files')
  if (placement === 'replace') {
    for (const name of names) await requireReplaceable(join(folder, name))
  }
  await putInPlace(folder, staged, names, placement)
  await syncFolder(folder)
}

/** Puts a staged group in place. Several processes may do so at the same time. */
async function complete(folder: string, staged: string, placement: Placement): Promise<void> {
  try {
    await moveInto(folder, staged, placement)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}

/** The commit. If another writer's group is in the way, it is completed first. */
async function commit(
  folder: string,
  aside: string,
  staged: string,
  placement: Placement,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await rename(aside, staged)
      await syncFolder(folder)
      return
    } catch (error) {
      const isOccupied = ['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')
      if (!isOccupied || attempt >= MOST_ATTEMPTS) throw error
      await complete(folder, staged, placement)
    }
  }
}

async function write(
  path: string,
  group: string,
  files: readonly GroupFile[],
  suffix: 'new' | 'create',
): Promise<void> {
  const folder = resolve(path)
  await requireSafeFolder(folder)
  const temporary = takeTemporary(folder, group)
  const staged = join(folder, `.${group}.${suffix}`)
  const placement = SUFFIXES[suffix] ?? 'create'
  try {
    for (const {name} of files) await requireReplaceable(join(folder, name))
    await recoverFolder(folder, group)
    await writeAside(temporary.path, files)
    await commit(folder, temporary.path, staged, placement)
    await complete(folder, staged, placement)
  } catch (error) {
    await removeOwn(temporary.path)
    throw unwritable(join(folder, group), error)
  } finally {
    temporary.release()
  }
}

/** Replaces the files, all or none. `group` tells groups of one folder apart. */
export async function replaceFiles(
  folder: string,
  group: string,
  files: readonly GroupFile[],
): Promise<void> {
  await write(folder, group, files, 'new')
}

/** Creates the files, all or none; returns false, and changes nothing, if one of them already exists. */
export async function createFiles(
  folder: string,
  group: string,
  files: readonly GroupFile[],
): Promise<boolean> {
  await write(folder, group, files, 'create')
  for (const {name, data} of files) {
    const found = await readFileIfThere(join(folder, name), {maxBytes: Infinity})
    if (!found?.equals(Buffer.from(data))) return false
  }
  return true
}

/** In a folder like /tmp, anybody can make a folder with such a name. It matters only to whoever writes a group of the same name. */
async function isForeign(staged: string): Promise<boolean> {
  const stats = await lookAt(staged)
  return stats !== undefined && !isOurs(stats)
}

/**
 * Completes what killed writers have staged in the folder. To be called before reading a group. `only`: of this group, in a folder
 * that is not trustadm's own.
 */
export async function recoverFolder(path: string, only?: string): Promise<void> {
  const folder = resolve(path)
  try {
    if (!(await lookAt(folder))) return
    for (const name of await readdir(folder)) {
      const [, group, suffix = ''] = STAGED.exec(name) ?? DONE.exec(name) ?? []
      if (group === undefined || (only !== undefined && group !== only)) continue
      if (DONE.test(name)) await removeOwn(join(folder, name))
      const placement = SUFFIXES[suffix]
      if (placement && !(await isForeign(join(folder, name))))
        await complete(folder, join(folder, name), placement)
    }
  } catch (error) {
    throw unwritable(folder, error)
  }
}
