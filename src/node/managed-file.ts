import {lookAt} from '../fs/file-checks.ts'
import {readFileIfThere, writeFileSafely} from '../fs/files.ts'

export interface KeptFile {
  path: string
  content: string
  /** For its owner only, unless it says more. */
  mode?: number
}

const OWN = 0o600
const PERMISSIONS = 0o777

/** Whether the file is there with that content, and lets nobody in whom it should not. */
export async function isKept({path, content, mode = OWN}: KeptFile): Promise<boolean> {
  const text = await readFileIfThere(path)
  if (!text?.equals(Buffer.from(content))) return false
  const stats = await lookAt(path)
  return stats !== undefined && (stats.mode & PERMISSIONS & ~mode) === 0
}

/** Writes the file unless it is right already. Answers whether it was written. */
export async function keepFile(file: KeptFile): Promise<boolean> {
  if (await isKept(file)) return false
  const {path, content, mode = OWN} = file
  await writeFileSafely(path, content, {mode})
  return true
}
