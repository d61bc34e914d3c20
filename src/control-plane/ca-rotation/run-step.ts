import {TrustError} from '../../errors.ts'
import {afterStep, beginning, isSameAction, nextStep} from './advance.ts'
import type {Dependent} from './dependent.ts'
import {withExpiry} from './expiry.ts'
import {readJournal, writeJournal, type Journal} from './journal.ts'
import {withGenerations} from './new-journal.ts'
import {perform} from './perform.ts'
import type {RotationContext} from './rotation-context.ts'
import type {Step} from './steps.ts'

export interface RotationOutcome {
  journal: Journal
  /** Who is still waited for. */
  waiting: Dependent[]
}

const EXPIRED =
  'an old CA has expired meanwhile: the control plane gets certificates of the new CAs now'

/** Keeps other commands out while it works. */
export type Lock = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Reads the journal again. Stops if another command has begun something else: that is not for this one to go on with. */
async function readAgain({plane}: RotationContext, before: Journal): Promise<Journal> {
  const found = await readJournal(plane)
  if (!found) throw new TrustError('NOT_FOUND', 'the journal of the rotation is missing')
  if (isSameAction(found, before)) return found
  throw new TrustError(
    'CONFLICT',
    `another command has begun the ${found.action} of a rotation, so this ${before.action} has ended`,
    {hints: ['see how far it is with "trustadm ca rotate status"']},
  )
}

/**
 * Does a step. The journal is read again under the lock before each change of it: while nodes or servers are waited for, another run
 * may do the same step, or begin something else.
 */
export async function runStep(
  context: RotationContext,
  before: Journal,
  step: Step,
  lock: Lock,
): Promise<RotationOutcome> {
  const {plane, clock} = context
  const isNext = (journal: Journal) => nextStep(journal)?.id === step.id
  const running = await lock(async () => {
    const found = withExpiry(await readAgain(context, before), clock.now())
    if (!isNext(found) || found.running === step.id) return found
    const begun = beginning(found, step)
    await writeJournal(plane, begun)
    return begun
  })
  if (!isNext(running)) return {journal: running, waiting: []}
  const waiting = await perform(context, running, step)
  if (waiting.length > 0) return {journal: running, waiting}
  return await lock(async () => {
    const stored = await readAgain(context, running)
    const found = withExpiry(stored, clock.now())
    if (found !== stored) {
      // What the step waited for cannot be told any more. The next one begins with this journal, and writes it.
      context.warn(EXPIRED)
      return {journal: found, waiting}
    }
    if (!isNext(found)) return {journal: found, waiting}
    const known = step.work.kind === 'create' ? await withGenerations(plane, found) : found
    const journal = afterStep(known, step, clock.now())
    await writeJournal(plane, journal)
    return {journal, waiting}
  })
}
