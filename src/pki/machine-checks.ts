import {access, constants} from 'node:fs/promises'
import {dirname} from 'node:path'
import {TrustError} from '../errors.ts'
import {lookAt, unwritable} from '../fs/file-checks.ts'
import {requireSafeFolder} from '../fs/folders.ts'
import {formatTimestamp} from '../runtime.ts'

/** This release did not exist before: with such a clock no certificate would be valid. */
const RELEASED = new Date('2026-10-01T00:00:00Z')

export function requireRightClock(now: Date): void {
  if (now >= RELEASED) return
  throw new TrustError(
    'PREFLIGHT_FAILED',
    `the clock of this machine says ${formatTimestamp(now)}`,
    {
      hints: ['set the clock: certificates depend on it'],
    },
  )
}

/** The folder itself, or the nearest existing parent. */
async function existing(folder: string): Promise<string> {
  return (await lookAt(folder)) || folder === dirname(folder) ? folder : existing(dirname(folder))
}

/** Refuses folders that cannot be created, written to, or trusted with a key. */
export async function requireWritableFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const there = await existing(folder)
    // Others are locked out of it before anything is written.
    if (there === folder) await requireSafeFolder(folder, {repair: true})
    try {
      await access(there, constants.W_OK)
    } catch (error) {
      throw unwritable(there === folder ? folder : `${folder} in ${there}`, error)
    }
  }
}
