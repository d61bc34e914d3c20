import {readdir, realpath} from 'node:fs/promises'
import {join, relative} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {FILES, fileOf} from '../config/plane.ts'
import {stagingOf} from './plane-files.ts'

/** These stay where they are, and are no reason to refuse. */
const STAYS = new Set<string>([
  FILES.lock,
  FILES.restoring,
  FILES.backups,
  FILES.unitNote,
  'lost+found',
])

/** What is in the folder, apart from what stays. Nothing for a folder that does not exist. */
export async function contentOf(dir: string): Promise<string[]> {
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
