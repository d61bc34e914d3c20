import {join} from 'node:path'
import {lookAt} from '../../fs/file-checks.ts'
import {specsOf} from '../certificates.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {stepsOf} from './advance.ts'
import {describeHeld, readHeld, readHeldKeys, type Which} from './generations.ts'
import type {Journal} from './journal.ts'
import {type Step, STEPS, type StepWork} from './steps.ts'
import {type Unit, unitFor} from './units.ts'

/** What the files of every machine should be, at a moment of a rotation. */
export interface Target {
  /** Absent before the new CAs exist: nothing has changed yet. */
  arrange?: Extract<StepWork, {kind: 'arrange'}>
  /** The leaves that a new generation has signed. */
  leaves?: 'clients' | 'all'
  /** The generation that was destroyed. */
  removed?: Which
}

/** How an abort begins is right from its first moment on, however far the start has come. */
const ABORTING: readonly Step[] = STEPS.abort.slice(0, 2)

/** The steps of which the files are a result. Before a completion begins, everything of the start is done. */
function stepsBehind(journal: Journal): Step[] {
  const done = stepsOf(journal).filter(({id}) => journal.done.includes(id))
  if (journal.action === 'complete') return [...stepsOf({...journal, action: 'start'}), ...done]
  return journal.action === 'abort' ? [...ABORTING, ...done] : done
}

/** Whether both generations of all CAs exist, or did. */
const hasBoth = ({units}: Journal): boolean => units.every((unit) => unit.new.pin !== '')

/** What a journal means for the files of a machine that follows it. */
export function targetOf(journal: Journal): Target {
  const works = stepsBehind(journal).map(({work}) => work)
  const last = <Kind extends StepWork['kind']>(kind: Kind) =>
    works.findLast((one): one is Extract<StepWork, {kind: Kind}> => one.kind === kind)
  const [arrange, renew, remove] = [last('arrange'), last('renew'), last('remove')]
  return {
    ...(hasBoth(journal) && arrange && {arrange}),
    ...(hasBoth(journal) && renew && {leaves: renew.leaves}),
    ...(remove && {removed: remove.generation}),
  }
}

/** A CA that an operator has added elsewhere only, or that of an etcd on another machine, is not for this one. */
export async function isHere(plane: Plane, {id}: Pick<Unit, 'id'>): Promise<boolean> {
  if (id === 'sa') return true
  const spec = specsOf(plane).find((one) => one.id === id)
  if (!spec) return false
  if (spec.when !== 'external-etcd') return true
  return (await lookAt(join(certDirOf(plane), spec.place.crt))) !== undefined
}

export async function unitsHere(plane: Plane, {units}: Journal): Promise<Unit[]> {
  const found: Unit[] = []
  for (const record of units) if (await isHere(plane, record)) found.push(unitFor(plane, record))
  return found
}

/**
 * Whether the generation that stays is in the folder of the rotation. Once the other one is destroyed, a machine shares only what it uses
 * itself: not the CA of an etcd that is elsewhere.
 */
export async function isHeld(
  plane: Plane,
  unit: Unit,
  {removed}: Pick<Target, 'removed'>,
  {units}: Journal,
): Promise<boolean> {
  if (removed === undefined) return true
  const kept = removed === 'old' ? 'new' : 'old'
  if (!unit.spec) return (await readHeldKeys(plane, kept)) !== undefined
  const held = await readHeld(plane, unit, kept)
  const isOther = kept === 'old' && unit.separatedFrom !== undefined
  const wanted = units.find(({id}) => id === unit.id)?.[kept].pin
  return held !== undefined && (isOther || describeHeld(held).pin === wanted)
}
