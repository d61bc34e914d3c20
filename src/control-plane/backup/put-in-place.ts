import {mkdir, readdir, realpath, rename, rm, rmdir} from 'node:fs/promises'
import {join, relative} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt, unwritable} from '../../fs/file-checks.ts'
import {ensureFolder, syncFolder} from '../../fs/folders.ts'
import {fileOf, FILES} from '../config/plane.ts'
import {stagingOf} from './plane-files.ts'

const ASIDE = 'restore-'

/** To the millisecond: a second run may follow at once. */
const stampOf = (now: Date): string => now.toISOString().replaceAll(/[-:.]/g, '')

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
 * last, so that a kill in between leaves none, and the next run completes it. With `names`, everything else stays.
 */
export async function putInPlace(
  dir: string,
  now: Date,
  {wasHalf, names}: {wasHalf: boolean; names: ReadonlySet<string> | undefined},
): Promise<string | null> {
  const staging = stagingOf(dir)
  const old = (await contentOf(dir)).filter((name) => names?.has(name) ?? true).sort(configFirst)
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

const stuck = (path: string, error: unknown, hints: string[]): TrustError =>
  new TrustError('FILE_UNWRITABLE', unwritable(path, error).message, {cause: error, hints})

/** These stay where they are, and are no reason to refuse. */
const STAYS = new Set<string>([
  FILES.lock,
  FILES.restoring,
  FILES.backups,
  FILES.unitNote,
  'lost+found',
])

/** What is in the folder, apart from what stays. Nothing for a folder that does not exist. */
async function contentOf(dir: string): Promise<string[]> {
  if (!(await lookAt(dir))) return []
  return (await readdir(dir)).filter((name) => !STAYS.has(name))
}

/** A restore that was killed while it put things in place: only another one can complete that. */
export async function isHalfDone(dir: string): Promise<boolean> {
  const hasConfig = (await lookAt(fileOf({dir}, 'config'))) !== undefined
  return !hasConfig && (await lookAt(stagingOf(dir))) !== undefined
}

/** At least one of these is in the folder of a control plane, however damaged. */
const MARKS = new Set<string>([FILES.config, FILES.store, 'pki'])

/** A mistyped --dir must not cost the order of another folder, even with --force. */
export async function requireReplaceable(dir: string, force: boolean): Promise<void> {
  const content = await contentOf(dir)
  if (content.length === 0 || (await isHalfDone(dir))) return
  if (!content.some((name) => MARKS.has(name))) {
    throw new TrustError('ALREADY_EXISTS', `there are files in ${dir}, but no control plane`, {
      hints: ['choose another folder with --dir, or empty this one'],
    })
  }
  if (force) return
  throw new TrustError('ALREADY_EXISTS', `there are files in ${dir} already`, {
    hints: [
      'choose another folder with --dir',
      `or replace them with --force: they are moved to a folder in ${fileOf({dir}, 'backups')}`,
    ],
  })
}

/** A backup in the folder would be moved aside with everything else: the next run would not find it. */
export async function requireOutside(file: string, dir: string): Promise<void> {
  if (!(await lookAt(dir))) return
  const part = relative(await realpath(dir), await realpath(file))
  if (part.startsWith('..') || part.startsWith(join(FILES.backups, '/'))) return
  throw new TrustError('CONFLICT', `${file} is in the folder that it is to replace`, {
    hints: [`move it elsewhere, or to ${fileOf({dir}, 'backups')}`],
  })
}
