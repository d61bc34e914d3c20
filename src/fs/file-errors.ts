import {TrustError, messageOf, systemCode} from '../errors.ts'

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
