import {join} from 'node:path'
import {readFileIfThere, writeFileSafely} from '../fs/files.ts'
import {ensureFolder} from '../fs/folders.ts'
import {labelOf} from '../fs/made-files.ts'
import {fileOf, type Plane} from './config/plane.ts'

/** Copies files to a backup folder before they are replaced, and returns the folder. */
export async function backUp(
  plane: Pick<Plane, 'dir'>,
  files: readonly string[],
  now: Date,
): Promise<string> {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const folder = join(fileOf(plane, 'backups'), stamp)
  await ensureFolder(folder)
  for (const file of files) {
    const content = await readFileIfThere(file)
    if (content)
      await writeFileSafely(join(folder, labelOf(plane, file).replaceAll('/', '_')), content)
  }
  return folder
}
