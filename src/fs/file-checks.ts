import type {Stats} from 'node:fs'
import {lstat} from 'node:fs/promises'
import {messageOf, systemCode, TrustError} from '../errors.ts'

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EBUSY: 'it is in use, or a mount point',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be too large',
  EIO: 'the disk reports an error',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is not a folder',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EXDEV: 'it is on another file system',
}

const HINTS: Record<string, string[]> = {
  EACCES: ['run as the user that owns the folder, or choose another folder'],
  EDQUOT: ['free some space and run the command again; nothing was changed'],
  EFBIG: ['raise the limit on file sizes and run the command again; nothing was changed'],
  ENOSPC: ['free some space and run the command again; nothing was changed'],
  EPERM: ['run as the user that owns the folder, or choose another folder'],
  EROFS: ['choose a folder on a writable file system'],
}

function reasonOf(error: unknown): string {
  return REASONS[systemCode(error) ?? ''] ?? messageOf(error)
}

/** A line break in a path would begin another line of a systemd unit, a log or an output: with control characters it is refused. */
export function requirePlainPath(path: string): string {
  if (!/\p{Cc}/u.test(path)) return path
  throw new TrustError(
    'USAGE',
    `the path ${JSON.stringify(path)} has a line break or another control character`,
    {hints: ['choose a path without them']},
  )
}

export function unwritable(path: string, error: unknown): TrustError {
  if (error instanceof TrustError) return error
  return new TrustError('FILE_UNWRITABLE', `cannot write ${path}: ${reasonOf(error)}`, {
    cause: error,
    hints: HINTS[systemCode(error) ?? ''] ?? ['check the path, and the disk'],
  })
}

export function unreadable(path: string, error: unknown): TrustError {
  if (error instanceof TrustError) return error
  return new TrustError('FILE_UNREADABLE', `cannot read ${path}: ${reasonOf(error)}`, {
    cause: error,
    hints: [
      systemCode(error) === 'EACCES'
        ? 'run as the user that owns the file'
        : 'check the path, and what is there',
    ],
  })
}

export function unsafe(path: string, reason: string, ...hints: string[]): TrustError {
  return new TrustError('FILE_UNSAFE', `${path} is not safe to use: ${reason}`, {hints})
}

export function missing(folder: string): TrustError {
  return new TrustError('FILE_UNWRITABLE', `there is no folder ${folder}`, {
    hints: ['create the folder, or choose another one'],
  })
}

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

/** Refuses to replace anything but a plain file of ours; it need not exist. `place` is where it is looked at. */
export async function requireReplaceable(path: string, place = path): Promise<void> {
  const stats = await lookAt(place)
  if (stats) requirePlainFile(path, stats)
}
