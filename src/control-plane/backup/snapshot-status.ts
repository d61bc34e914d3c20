import {stat} from 'node:fs/promises'
import type {ArchiveHeader} from '../../storage/archive-frames.ts'
import {readBackup} from './read-backup.ts'

/** What `store snapshot status` prints. */
export interface SnapshotStatus {
  file: string
  kind: ArchiveHeader['kind']
  createdAt: string
  program: string
  revision: number
  keys: number
  files: number
  bytes: number
  sha256: string
  encrypted: boolean
}

/** Checks a snapshot or a backup as a whole, and tells what is in it. */
export async function snapshotStatus(
  file: string,
  passphrase: Buffer | undefined,
): Promise<SnapshotStatus> {
  const {header, digest, keys, files, isEncrypted} = await readBackup(file, passphrase)
  const {kind, createdAt, program, revision} = header
  const {size: bytes} = await stat(file)
  const about = {file, kind, createdAt, program, revision, keys, files}
  return {...about, bytes, sha256: digest, encrypted: isEncrypted}
}
