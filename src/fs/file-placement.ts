import {existsSync, linkSync, lstatSync, renameSync, rmSync, rmdirSync} from 'node:fs'
import {join} from 'node:path'
import {systemCode} from '../errors.ts'
import {takeTemporary} from './temporary-names.ts'

/** Whether existing files are replaced, or stop the operation. */
export type Placement = 'replace' | 'create'

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

/** Renamed away in one step: the next process must not find half of a group. */
function discard(folder: string, staged: string): void {
  const temporary = takeTemporary(folder, 'discarded')
  try {
    allowing(['ENOENT'], () => renameSync(staged, temporary.path))
    rmSync(temporary.path, {recursive: true, force: true})
  } finally {
    // Else this process would take what is left for its own work, and never remove it.
    temporary.release()
  }
}

/** Moves the staged files into the folder. */
export function putInPlace(
  folder: string,
  staged: string,
  names: readonly string[],
  placement: Placement,
): void {
  if (placement === 'create') {
    linkAll(folder, staged, names)
    discard(folder, staged)
    return
  }
  for (const name of names) {
    allowing(['ENOENT'], () => renameSync(join(staged, name), join(folder, name)))
  }
  allowing(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => rmdirSync(staged))
}
