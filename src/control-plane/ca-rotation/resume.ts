import {userInfo} from 'node:os'
import {TrustError} from '../../errors.ts'
import {isDeepStrictEqual} from 'node:util'
import type {Plane} from '../config/plane.ts'
import {describeBrought} from './brought.ts'
import {readHeld} from './generations.ts'
import type {Action, Journal, Override} from './journal.ts'
import type {StartOptions} from './new-journal.ts'
import {unitFor} from './units.ts'

export interface ResumeOptions extends StartOptions {
  grace?: number | undefined
}

const conflict = (message: string, hint: string): TrustError =>
  new TrustError('CONFLICT', message, {hints: [hint]})

const sorted = (values: readonly string[]): string => [...values].sort().join(',')

/** Refuses what the start that is resumed was not asked for. */
function requireSameStart(
  journal: Journal,
  {only = [], keyAlgorithm, brought}: StartOptions,
): void {
  const hint = 'run it again without that flag to resume it, or go back with "ca rotate abort"'
  if (only.length > 0 && sorted(only) !== sorted(journal.only ?? [])) {
    const began = journal.only ? `with --only ${journal.only.join(',')}` : 'for all CAs'
    throw conflict(`the rotation was started ${began}, which cannot be changed now`, hint)
  }
  if (keyAlgorithm !== undefined && keyAlgorithm !== journal.keyAlgorithm) {
    const began = journal.keyAlgorithm === undefined ? 'out' : ` ${journal.keyAlgorithm}`
    throw conflict(`the rotation was started with${began} --key-algorithm`, hint)
  }
  for (const one of describeBrought(brought ?? new Map())) {
    if (journal.brought?.some((known) => isDeepStrictEqual(known, one))) continue
    throw conflict(`the rotation was started without this --new-ca for "${one.id}"`, hint)
  }
}

/** A CA that was promised must come along until it is here: nothing is created in its place. */
async function requireBrought(plane: Plane, journal: Journal, {brought}: StartOptions) {
  for (const {id} of journal.done.includes('create') ? [] : (journal.brought ?? [])) {
    if (brought?.has(id) || (await readHeld(plane, unitFor(plane, {id}), 'new'))) continue
    throw new TrustError('USAGE', `the rotation was started with --new-ca for "${id}"`, {
      hints: [`run it again with --new-ca ${id}=<certificate file>,<key file>`],
    })
  }
}

/** How long old clients can verify the server can be chosen until the certificate for it is made. */
function withGrace(journal: Journal, grace: number | undefined): Journal {
  if (grace === undefined || grace === journal.grace) return journal
  const isMade = journal.running === 'renew-servers' || journal.done.includes('renew-servers')
  if (!isMade) return {...journal, grace}
  throw conflict(
    'the serving certificates are renewed already, so that --grace cannot be changed',
    'run it again without --grace to resume it',
  )
}

/** The journal of an action that is resumed, with what the flags of this run change. Refuses those that contradict it. */
export async function resumed(
  plane: Plane,
  journal: Journal,
  options: ResumeOptions,
): Promise<Journal> {
  if (journal.action === 'complete') return withGrace(journal, options.grace)
  if (journal.action !== 'start') return journal
  requireSameStart(journal, options)
  await requireBrought(plane, journal, options)
  return journal
}

export interface Overriding {
  force?: boolean | undefined
  ignored?: readonly string[] | undefined
  unseenFor?: number | undefined
}

/** What an operator took responsibility for with earlier runs of the command that a journal is of. */
export function ignoredIn({overrides, action}: Pick<Journal, 'overrides' | 'action'>): {
  ignored: string[]
  unseenFor?: number
} {
  const own = overrides.filter((one) => (one.action ?? action) === action)
  const unseenFor = own.findLast((one) => one.unseenFor !== undefined)?.unseenFor
  return {
    ignored: own.flatMap(({ignored}) => (ignored === 'everybody' ? [] : ignored)),
    ...(unseenFor !== undefined && {unseenFor}),
  }
}

/** What an operator takes responsibility for with this run; undefined if nothing, or if it is recorded already. */
export function overrideOf(
  {overrides}: Pick<Journal, 'overrides'>,
  action: Action,
  {force = false, ignored = [], unseenFor}: Overriding,
  now: Date,
): Override | undefined {
  if (!force && ignored.length === 0 && unseenFor === undefined) return undefined
  const seconds = unseenFor === undefined ? [] : [`clients unseen for ${unseenFor / 1000} s`]
  const names: Override['ignored'] = force ? 'everybody' : [...ignored, ...seconds]
  const last = overrides.at(-1)
  const isSame = last?.action === action && isDeepStrictEqual(last.ignored, names)
  if (isSame) return undefined
  return {
    at: now.toISOString(),
    by: userInfo().username,
    action,
    ignored: names,
    ...(!force && unseenFor !== undefined && {unseenFor}),
  }
}
