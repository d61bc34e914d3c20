import {TrustError} from '../../errors.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {fileOf, type Plane} from '../config/plane.ts'
import type {Phase} from '../last-rotation.ts'

/** What a rotation does at the moment. */
export type Action = 'start' | 'complete' | 'abort'

export type {Phase} from '../last-rotation.ts'

export interface Generation {
  pin: string
  /** Identifies the key in certificates that it signed; absent for keys that are no CA. */
  keyId?: string
  subject?: string
  notBefore?: string
  notAfter?: string
  fingerprint?: string
  /** The other CAs of its file: what they have signed is trusted for as long. */
  others?: Omit<Generation, 'others'>[]
}

export interface UnitRecord {
  id: string
  /** The CA that did its work before this rotation. */
  separatedFrom?: string
  old: Generation
  new: Generation
}

/** Which generation of a CA was in use when the last rotation ended. The pin tells it from another CA of the same name. */
interface GenerationNumber {
  pin: string
  number: number
  /** When its rotation was completed; absent if an earlier version has recorded it. */
  completed?: string
}

/** That an operator went on although somebody depended on the old CA. */
export interface Override {
  at: string
  by: string
  /** The command; absent if an earlier version has recorded it. */
  action?: Action
  /** All, or only these names. */
  ignored: 'everybody' | string[]
  /** In milliseconds. */
  unseenFor?: number
}

/** What a rotation has done. It is on the disk before each step, and is all that a later run needs to go on. */
export interface Journal {
  version: 1
  /** What runs, or ran last. */
  action: Action
  /** Absent after an abort. */
  phase?: Phase
  lastInitiation: string
  /** When all CAs at once were last rotated. */
  lastCompletion?: string
  /** When a rotation was last aborted. */
  lastAbort?: string
  /** Whether this rotation leaves out some of the CAs. */
  isPartial?: boolean
  units: UnitRecord[]
  /** What `start` was asked for, so that a run that resumes it is not asked for something else. */
  only?: string[]
  keyAlgorithm?: string
  /** The CAs that an operator brings along. */
  brought?: {id: string; fingerprint: string}[]
  /** The step that may be half done. */
  running?: string
  /** The steps of the action that are done. */
  done: string[]
  /** When the control plane's own client certificates were renewed: who uses old ones later has a copy. */
  renewedAt?: string
  /** Whether the end of the action was shown in the API: a run that was killed before is repeated. */
  isShown?: boolean
  /** Whether the old CA of servers has expired: nobody can be waited for then. */
  isExpired?: boolean
  /** The same for a CA of clients of their own: the control plane's own certificates cannot be used then. */
  areClientsExpired?: boolean
  /** By CA; absent for those that were never rotated. */
  generations?: Readonly<Record<string, GenerationNumber>>
  /** How long the new CA is also presented as signed by the old one after `complete`. In milliseconds. */
  grace?: number
  overrides: Override[]
  /** Counts what was handed to the other servers on the same etcd: which one the files of this machine are. */
  shared?: number
}

const FILE = 'rotation'

export function isJournal(value: unknown): value is Journal {
  const journal = value as Partial<Journal> | null
  return (
    typeof journal === 'object' &&
    journal?.version === 1 &&
    ['start', 'complete', 'abort'].includes(journal.action ?? '') &&
    ['Prepare', 'Finalize', 'Completed'].includes(journal.phase ?? 'Completed') &&
    Array.isArray(journal.units) &&
    Array.isArray(journal.done) &&
    Array.isArray(journal.overrides)
  )
}

/** The journal of a control plane; undefined if its CAs never rotated. */
export async function readJournal(plane: Pick<Plane, 'dir'>): Promise<Journal | undefined> {
  const path = fileOf(plane, FILE)
  const content = await readFileIfThere(path)
  if (!content) return undefined
  try {
    const value: unknown = JSON.parse(content.toString())
    if (isJournal(value)) return value
  } catch {
    // Reported below.
  }
  throw new TrustError('CONFIG_INVALID', `${path} is not a valid journal of a CA rotation`, {
    hints: ['restore it from a backup: without it, nobody knows which step comes next'],
  })
}

export async function writeJournal(plane: Pick<Plane, 'dir'>, journal: Journal): Promise<void> {
  await writeFileSafely(fileOf(plane, FILE), `${JSON.stringify(journal, null, 2)}\n`)
}

type Numbers = Readonly<Record<string, GenerationNumber>>

/** The number of the generation that leaves; 0 for a CA that exists only from this rotation on. */
function oldNumber(recorded: Numbers, {id, separatedFrom, old}: UnitRecord): number {
  const known = recorded[id]
  if (known?.pin === old.pin) return known.number
  return separatedFrom === undefined ? 1 : 0
}

/** What is recorded when a rotation is completed. */
export const numbersAfter = ({generations = {}, units}: Journal, now: Date): Numbers => ({
  ...generations,
  ...Object.fromEntries(
    units.map((unit) => {
      const number = oldNumber(generations, unit) + 1
      return [unit.id, {pin: unit.new.pin, number, completed: now.toISOString()}]
    }),
  ),
})

/**
 * Which generation of a CA this is: the first one is 1, and each rotation adds one. Undefined for what is only trusted beside it and did
 * not come by a rotation.
 */
export function generationOf(
  journal: Journal | undefined,
  id: string,
  {pin, signs}: {pin: string; signs: boolean},
): number | undefined {
  const recorded = journal?.generations ?? {}
  if (recorded[id]?.pin === pin) return recorded[id].number
  const unit = journal?.units.find((one) => one.id === id)
  if (pin === unit?.new.pin) return oldNumber(recorded, unit) + 1
  if (pin === unit?.old.pin) return oldNumber(recorded, unit) || undefined
  return signs ? 1 : undefined
}
