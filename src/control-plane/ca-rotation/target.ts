import {stepsOf} from './advance.ts'
import type {Which} from './generations.ts'
import type {Journal} from './journal.ts'
import {STEPS, type Step, type StepWork} from './steps.ts'

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
