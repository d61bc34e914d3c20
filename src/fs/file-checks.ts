import type {Stats} from 'node:fs'
import {lstat} from 'node:fs/promises'
import {systemCode} from '../errors.ts'
import {unsafe} from './file-errors.ts'

/** Bits that let anyone but the owner in. */
export const OTHERS = 0o077

/** Whether a file's owner is somebody who may decide over our files anyway: ourselves, or root. */
export function isOurs({uid}: Stats): boolean {
  const own = process.geteuid?.()
  return own === undefined || uid === own || uid === 0
}

/** As lstat; undefined where nothing is there. */
export async function lookAt(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a named pipe'
  if (stats.isSocket()) return 'a socket'
  return stats.isSymbolicLink() ? 'a symbolic link' : 'a device'
}

/** Refuses what somebody may have planted: links of both kinds, pipes, devices, files of other users. */
export function requirePlainFile(path: string, stats: Stats): void {
  if (!stats.isFile()) {
    throw unsafe(
      path,
      `it is ${kindOf(stats)}, not a file`,
      'look at where it came from, then remove it',
    )
  }
  if (stats.nlink > 1) {
    throw unsafe(
      path,
      'it has another name elsewhere (a hard link)',
      'replace it by a copy of itself',
    )
  }
  if (!isOurs(stats)) {
    throw unsafe(path, 'it belongs to another user', `take it over with "chown" if it is yours`)
  }
}

/** Refuses to replace anything but a plain file of ours; nothing there is fine. */
export async function requireReplaceable(path: string): Promise<void> {
  const stats = await lookAt(path)
  if (stats) requirePlainFile(path, stats)
}
