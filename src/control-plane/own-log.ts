import {
  constants,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import {systemCode} from '../errors.ts'
import {fileOf, type Plane} from './config/plane.ts'

const STANDARD_ERROR = 2
const MAX_BYTES = 10 * 1024 * 1024
const FILES = 3

export interface OwnLogOptions {
  descriptor?: number
  maxBytes?: number
  files?: number
}

/**
 * Returns a function that limits the size of the background server's log; to be called after each line. The file is the standard
 * error of this process, which cannot be redirected later: so its content is copied to `server.log.1`, …, and the file is emptied.
 * Any other standard error is left alone.
 */
export function keepOwnLogShort(
  plane: Pick<Plane, 'dir'>,
  {descriptor = STANDARD_ERROR, maxBytes = MAX_BYTES, files = FILES}: OwnLogOptions = {},
): () => void {
  const path = fileOf(plane, 'log')
  if (!isOwnLog(plane, descriptor)) return () => undefined
  return () => {
    if (fstatSync(descriptor).size <= maxBytes) return
    try {
      putAside(path, files)
    } catch {
      // There is no room for a copy: losing the log is better than letting it grow without limit.
      rmSync(`${path}.1`, {force: true, recursive: true})
    }
    ftruncateSync(descriptor, 0)
  }
}

/** Whether the standard error of this process is the log of the background server. */
export function isOwnLog(plane: Pick<Plane, 'dir'>, descriptor = STANDARD_ERROR): boolean {
  try {
    const path = fileOf(plane, 'log')
    const [one, other] = [statSync(path), fstatSync(descriptor)]
    return one.isFile() && one.dev === other.dev && one.ino === other.ino
  } catch {
    return false
  }
}

function putAside(path: string, files: number): void {
  for (let number = files - 1; number > 1; number--) {
    renameIfThere(`${path}.${number - 1}`, `${path}.${number}`)
  }
  copyFileSync(path, `${path}.1`, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}
