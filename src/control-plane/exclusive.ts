import {ensureFolder} from '../fs/folders.ts'
import {lockFolderWhenFree} from '../fs/folder-lock.ts'
import {fileOf} from './config/plane.ts'

/** Prints a line for a user who waits. */
export type Tell = (line: string) => void

/**
 * Lets only one command at a time change the control plane of a folder; others wait. Two that create certificates and settings at
 * the same time would mix them up.
 */
export async function exclusively<Result>(
  dir: string,
  work: () => Promise<Result>,
  tell: Tell = () => undefined,
  signal?: AbortSignal,
): Promise<Result> {
  await ensureFolder(dir)
  const release = await lockFolderWhenFree(fileOf({dir}, 'lock'), {
    what: 'the same control plane',
    tell,
    signal,
  })
  try {
    return await work()
  } finally {
    await release()
  }
}
