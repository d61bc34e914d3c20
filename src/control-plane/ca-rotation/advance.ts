import {TrustError} from '../../errors.ts'
import {type Action, type Journal, numbersAfter} from './journal.ts'
import {STEPS, type Condition, type Step} from './steps.ts'

const conditionOf = ({isExpired, areClientsExpired}: Expiries): Condition =>
  isExpired ? 'expired' : areClientsExpired ? 'clients-expired' : 'usable'

type Expiries = Pick<Journal, 'isExpired' | 'areClientsExpired'>

/** The steps of an action that apply to a rotation. */
export const stepsOf = (journal: Pick<Journal, 'action'> & Expiries): Step[] =>
  STEPS[journal.action].filter(({when}) => when?.includes(conditionOf(journal)) ?? true)

/** The step that comes next; undefined if all are done. */
export const nextStep = (journal: Journal): Step | undefined =>
  stepsOf(journal).find(({id}) => !journal.done.includes(id))

/** Whether all steps of the action are done. */
export const isFinished = (journal: Journal): boolean => nextStep(journal) === undefined

/** Whether everything of a completion is done but that nodes end their trust in the old CAs. */
export const waitsForNodes = (journal: Journal): boolean =>
  nextStep(journal)?.work.kind === 'distrusted'

/** Whether something is under way: from the first step of `start` to the last of `complete` or `abort`. */
export const isRotating = (journal: Journal | undefined): journal is Journal =>
  journal?.phase === 'Prepare' || journal?.phase === 'Finalize'

/** Whether both are of the same command of the same rotation. */
export const isSameAction = (one: Journal, other: Journal): boolean =>
  one.action === other.action && one.lastInitiation === other.lastInitiation

/** Notes that a step begins. What it does may be half done from now on. */
export const beginning = (journal: Journal, {id}: Step): Journal => ({...journal, running: id})

/** Notes that a step is done, and what that means for the phase. */
export function afterStep(journal: Journal, {id, work}: Step, now: Date): Journal {
  const {running: _running, ...rest} = journal
  // Other machines renew theirs a little later.
  const hasOthers = journal.shared !== undefined && journal.renewedAt !== undefined
  const isRenewed = work.kind === 'renew' || (work.kind === 'servers' && hasOthers)
  const renewedAt = isRenewed ? {renewedAt: now.toISOString()} : {}
  const next: Journal = {...rest, ...renewedAt, done: [...journal.done, id]}
  if (!isFinished(next) || next.action === 'start') return next
  if (next.action === 'complete') {
    const whole = next.isPartial ? {} : {lastCompletion: now.toISOString()}
    return {...next, ...whole, phase: 'Completed', generations: numbersAfter(next, now)}
  }
  // None of the phases tells what became of it: whoever waits for "Completed" must not find that of the rotation before.
  const {phase: _phase, ...aborted} = next
  return {...aborted, lastAbort: now.toISOString()}
}

/** From this step of a completion on, there is no way back: servers and clients need the new CAs. */
const POINT_OF_NO_RETURN = 'distrust-old'

/** Whether an abort can still lead back: both generations are trusted everywhere until a completion ends that. */
const leadsBack = ({action, running, done}: Journal): boolean =>
  action === 'start' ||
  (action === 'complete' && running !== POINT_OF_NO_RETURN && !done.includes(POINT_OF_NO_RETURN))

const refused = (message: string, ...hints: string[]): TrustError =>
  new TrustError('CONFLICT', message, {hints})

const WORDS: Record<Action, string> = {start: 'start', complete: 'completion', abort: 'abort'}

/** What a command does: begin something, or go on with what an earlier run left. */
export type Decision = {kind: 'begin'} | {kind: 'resume'}

/** Whether a command may run now. Refuses what would interfere with a rotation that is under way. */
export function decide(wanted: Action, journal: Journal | undefined): Decision {
  const running = isRotating(journal) ? journal : undefined
  if (wanted === 'start') {
    if (!running) return {kind: 'begin'}
    const isOver = isFinished(running) && running.isShown === true
    // As below, a run that was killed right after its last step is repeated.
    if (running.action === 'start' && !isOver) return {kind: 'resume'}
    throw refused(
      `a rotation is in progress since ${running.lastInitiation}`,
      running.action === 'start'
        ? 'finish it with "trustadm ca rotate complete", or go back with "trustadm ca rotate abort"'
        : `run "trustadm ca rotate ${running.action}" again to finish its ${WORDS[running.action]}`,
    )
  }
  if (!running) {
    // Killed right after its last step.
    if (journal?.action === wanted && journal.isShown !== true) return {kind: 'resume'}
    throw refused(
      `there is no rotation to ${wanted}`,
      wanted === 'complete'
        ? 'begin one with "trustadm ca rotate start"; see "trustadm ca rotate status"'
        : 'nothing has to be undone; see "trustadm ca rotate status"',
    )
  }
  if (running.action === wanted) return {kind: 'resume'}
  if (wanted === 'abort' && leadsBack(running)) return {kind: 'begin'}
  if (running.action !== 'start') {
    throw refused(
      `the ${WORDS[running.action]} of the rotation has begun and cannot be changed into its ${WORDS[wanted]}`,
      waitsForNodes(running)
        ? 'the old CAs are destroyed; it ends once no node trusts them: see "trustadm ca rotate status"'
        : `run "trustadm ca rotate ${running.action}" again to finish it`,
    )
  }
  return {kind: 'begin'}
}

/** Whether everything of `start` is done that the machine of the control plane does itself. Nodes are waited for separately. */
export function requirePrepared(journal: Journal): void {
  const open = stepsOf(journal).filter(
    ({id, work}) => work.kind !== 'dependents' && !journal.done.includes(id),
  )
  if (open.length === 0) return
  throw refused(
    `the rotation was started, but not all of its steps are done: ${open.map(({summary}) => summary).join('; ')}`,
    'run "trustadm ca rotate start" again to finish them',
  )
}

/** The steps that an abort need not do: if the new CAs were never complete, nothing uses them, and it only removes them. */
const skippedSteps = ({action, done}: Journal): string[] =>
  action === 'start' && !done.includes('create')
    ? STEPS.abort.filter(({work}) => work.kind !== 'remove').map(({id}) => id)
    : []

/** The journal with which a completion or an abort begins. */
export function begun(wanted: Exclude<Action, 'start'>, journal: Journal): Journal {
  const {running: _running, isShown: _isShown, ...rest} = journal
  return wanted === 'complete'
    ? {...rest, action: wanted, phase: 'Finalize', done: []}
    : {...rest, action: wanted, phase: 'Prepare', done: skippedSteps(journal)}
}
