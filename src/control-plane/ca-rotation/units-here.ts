import {join} from 'node:path'
import {lookAt} from '../../fs/file-checks.ts'
import {specsOf} from '../certificates.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {describeHeld, readHeld, readHeldKeys} from './generations.ts'
import type {Journal} from './journal.ts'
import type {Target} from './target.ts'
import {unitFor, type Unit} from './units.ts'

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
