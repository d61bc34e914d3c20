import type {Stats} from 'node:fs'
import {lstat} from 'node:fs/promises'
import {systemCode} from '../errors.ts'
import {unsafe} from './file-errors.ts'

/** Permission bits of everyone but the owner. */
export const OTHERS = 0o077

/** Whether a file belongs to the current user or to root. */
export function isOurs({uid}: Stats): boolean {
  const own = process.geteuid?.()
  return own === undefined || uid === own || uid === 0
}

/** As lstat; undefined if nothing is there. */
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

/** Refuses what an attacker may have planted: links of both kinds, pipes, devices, files of other users. */
export function requirePlainFile(path: string, stats: Stats): void {
  if (!stats.isFile()) {
    throw unsafe(
      path,
      `it is ${kindOf(stats)}, not a file`,
      'find out where it came from, then remove it',
    )
  }
  if (stats.nlink > 1) {
    throw unsafe(path, 'it has a second name (a hard link)', 'replace it with a copy of itself')
  }
  if (!isOurs(stats)) {
    throw unsafe(
      path,
      'it belongs to another user',
      `if it is yours, change its owner with "chown"`,
    )
  }
}

/** Refuses to replace anything but a plain file of ours; it need not exist. */
export async function requireReplaceable(path: string): Promise<void> {
  const stats = await lookAt(path)
  if (stats) requirePlainFile(path, stats)
}
