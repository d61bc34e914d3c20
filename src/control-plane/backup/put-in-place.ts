import {mkdir, readdir, rename, rm, rmdir} from 'node:fs/promises'
import {join} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt, unwritable} from '../../fs/file-checks.ts'
import {ensureFolder, syncFolder} from '../../fs/folders.ts'
import {FILES, fileOf} from '../config/plane.ts'
import {stagingOf} from './plane-files.ts'
import {contentOf} from './replaceable.ts'

const ASIDE = 'restore-'

/** To the millisecond: a second run may follow at once. */
export const stampOf = (now: Date): string => now.toISOString().replaceAll(/[-:.]/g, '')

/** Where restores have moved what was in the folder, the newest first. */
export async function asideOf(dir: string): Promise<string[]> {
  const backups = fileOf({dir}, 'backups')
  const names = (await lookAt(backups)) ? await readdir(backups) : []
  const found = names.filter((name) => name.startsWith(ASIDE)).sort()
  return found.reverse().map((name) => join(backups, name))
}

/** The folder itself is never gone: it may be the mark of a restore that was killed half way. */
export async function emptyFolder(folder: string): Promise<void> {
  await ensureFolder(folder)
  for (const name of await readdir(folder)) await rm(join(folder, name), {recursive: true})
}

const configFirst = (one: string, other: string): number =>
  Number(other === FILES.config) - Number(one === FILES.config)

/** Moves all or nothing. */
async function moveAside(dir: string, names: readonly string[], aside: string): Promise<void> {
  const moved: string[] = []
  for (const name of names) {
    try {
      await rename(join(dir, name), join(aside, name))
      moved.push(name)
      await syncFolder(aside)
      await syncFolder(dir)
    } catch (error) {
      for (const one of moved.reverse()) await rename(join(aside, one), join(dir, one))
      await syncFolder(dir)
      await rmdir(aside)
      throw stuck(join(dir, name), error, [
        'nothing was changed: if it is a mount point, unmount it and run the command again',
        'or choose another folder with --dir',
      ])
    }
  }
}

async function moveIn(dir: string, staging: string): Promise<void> {
  for (const name of (await readdir(staging)).sort(configFirst).reverse()) {
    try {
      await rename(join(staging, name), join(dir, name))
      await syncFolder(dir)
    } catch (error) {
      throw stuck(join(dir, name), error, [
        'the restore is not complete: remove the cause, then run it again with the same backup',
      ])
    }
  }
}

/**
 * Moves what is there aside, then what was built into its place. Without config.yaml there is no control plane: it goes first and comes
 * last, so that a kill in between leaves none, and the next run completes it.
 */
export async function putInPlace(dir: string, now: Date, wasHalf: boolean): Promise<string | null> {
  const staging = stagingOf(dir)
  const old = (await contentOf(dir)).sort(configFirst)
  const aside = join(fileOf({dir}, 'backups'), `${ASIDE}${stampOf(now)}`)
  if (old.length > 0) {
    await ensureFolder(fileOf({dir}, 'backups'))
    await mkdir(aside, {recursive: true, mode: 0o700})
    try {
      await moveAside(dir, old, aside)
    } catch (error) {
      // Unless something could not be moved back: then it is the mark of that.
      if (!wasHalf && error instanceof TrustError) await rm(staging, {recursive: true})
      throw unwritable(dir, error)
    }
  }
  await moveIn(dir, staging)
  await rm(staging, {recursive: true})
  await syncFolder(dir)
  return old.length > 0 ? aside : null
}

export const stuck = (path: string, error: unknown, hints: string[]): TrustError =>
  new TrustError('FILE_UNWRITABLE', unwritable(path, error).message, {cause: error, hints})
