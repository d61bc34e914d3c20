import {readFileIfThere} from '../fs/files.ts'
import {fileOf, type Plane} from './config/plane.ts'

/** When the CAs were last rotated. */
export interface LastRotation {
  /** Absent if the only one was aborted. */
  phase?: string
  lastInitiation?: string
  lastCompletion?: string
}

/** The newest arrangement of a rotation over several servers that is in the files of this machine; 0 if there was none. */
export async function readGeneration(plane: Pick<Plane, 'dir'>): Promise<number> {
  const content = await readFileIfThere(fileOf(plane, 'rotation'))
  try {
    const {shared} = JSON.parse(content?.toString() ?? '{}') as {shared?: unknown}
    return typeof shared === 'number' ? shared : 0
  } catch {
    return 0
  }
}

/** What the journal of rotations says about them; undefined if there was none. A journal that cannot be read is for `ca rotate` to report. */
export async function readLastRotation(
  plane: Pick<Plane, 'dir'>,
): Promise<LastRotation | undefined> {
  const content = await readFileIfThere(fileOf(plane, 'rotation'))
  if (!content) return undefined
  try {
    const journal = JSON.parse(content.toString()) as Partial<Record<keyof LastRotation, unknown>>
    const {phase, lastInitiation, lastCompletion} = journal
    return {
      ...(typeof phase === 'string' && {phase}),
      ...(typeof lastInitiation === 'string' && {lastInitiation}),
      ...(typeof lastCompletion === 'string' && {lastCompletion}),
    }
  } catch {
    return undefined
  }
}
