import {readFileIfThere} from '../fs/files.ts'
import {fileOf, type Plane} from './config/plane.ts'

/** As in the status that people and programs read. */
export type Phase = 'Prepare' | 'Finalize' | 'Completed'

/** What became of the rotations of the CAs, as people and programs read it. */
export interface LastRotation {
  /** Absent after an abort. */
  phase?: Phase
  lastInitiation?: string
  /** When all CAs at once were last rotated. */
  lastCompletion?: string
  /** When a rotation was last aborted. */
  lastAbort?: string
  /** The CAs of the rotation in progress, or of the last one, if those are not all. */
  only?: string[]
  /** When the last rotation of each CA was completed. */
  completions?: Record<string, string>
  /** The nodes that still trust a CA that the last one has replaced; absent if there are none, or if nobody was asked. */
  stillTrustedBy?: string[]
}

/** What a journal of rotations has about them. One that another program has changed may lack anything. */
interface Recorded extends Omit<LastRotation, 'only' | 'completions' | 'stillTrustedBy'> {
  isPartial?: boolean
  units?: readonly {id: string}[]
  generations?: Readonly<Record<string, {completed?: string}>>
}

const isText = (value: unknown): value is string => typeof value === 'string'

export function lastRotationOf(journal: Recorded): LastRotation {
  const {phase, lastInitiation, lastCompletion, lastAbort, isPartial, units, generations} = journal
  const completions = Object.entries(generations ?? {}).flatMap(([id, {completed}]) =>
    isText(completed) ? [[id, completed] as const] : [],
  )
  return {
    ...(isText(phase) && {phase}),
    ...(isText(lastInitiation) && {lastInitiation}),
    ...(isText(lastCompletion) && {lastCompletion}),
    ...(isText(lastAbort) && {lastAbort}),
    ...(isPartial === true && {only: (units ?? []).map(({id}) => id)}),
    ...(completions.length > 0 && {completions: Object.fromEntries(completions)}),
  }
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
    return lastRotationOf(JSON.parse(content.toString()) as Recorded)
  } catch {
    return undefined
  }
}
