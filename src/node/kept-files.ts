import {readFileIfThere, writeFileSafely} from '../pki/files.ts'

export interface KeptFile {
  path: string
  content: string
  mode?: number
}

/** Whether the file is there with that content. */
export async function isKept({path, content}: KeptFile): Promise<boolean> {
  return (await readFileIfThere(path))?.equals(Buffer.from(content)) ?? false
}

/** Writes the file unless it is right already. Answers whether it was written. */
export async function keepFile(file: KeptFile): Promise<boolean> {
  if (await isKept(file)) return false
  const {path, content, mode} = file
  await writeFileSafely(path, content, mode === undefined ? {} : {mode})
  return true
}
