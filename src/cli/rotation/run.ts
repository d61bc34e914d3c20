import type {Dependent} from '../../control-plane/ca-rotation/dependent.ts'
import type {Action} from '../../control-plane/ca-rotation/journal.ts'
import {planRotation} from '../../control-plane/ca-rotation/plan.ts'
import {reportRotation} from '../../control-plane/ca-rotation/report.ts'
import {rotate, type RotateOptions} from '../../control-plane/ca-rotation/rotate.ts'
import {planeCommand} from '../../control-plane/plane-command.ts'
import {EXIT} from '../../errors.ts'
import {onInterruption} from '../interruption.ts'
import {render} from '../output.ts'
import {confirm} from '../prompt.ts'
import {rotationEndView, rotationPlanView} from '../views/ca-rotation.ts'
import type {RotationSession} from './session.ts'

interface RunFlags {
  'dry-run': boolean
  yes: boolean
  output: string
}

interface RunOptions {
  options: Omit<RotateOptions, 'observer'>
  flags: RunFlags
  /** Asked before anything is changed. */
  question: string
}

export interface RotationDone {
  /** What is printed; empty if nothing was done. */
  text: string
  exitCode: number
}

/** Runs one of the commands that rotate: asks, goes through the steps, and reports. */
export async function runRotation(
  session: RotationSession,
  action: Action,
  {options, flags, question}: RunOptions,
): Promise<RotationDone> {
  const {context, progress} = session
  const isDryRun = flags['dry-run']
  if (isDryRun || !flags.yes) {
    const plan = await planRotation(context, action, options)
    const isRefused = plan.dependents.length > 0
    if (isDryRun) {
      const exitCode = isRefused ? EXIT.conflict : 0
      return {text: await render(plan, flags.output, rotationPlanView), exitCode}
    }
    // Nobody is asked about what is refused anyway.
    const isPointless = isRefused && !options.wait
    if (!isPointless && plan.lockedOut.length > 0) progress.warn(lockedOutText(plan.lockedOut))
    if (!isPointless && !(await confirm(question))) {
      progress.tell('nothing was changed')
      return {text: '', exitCode: EXIT.failed}
    }
  }
  const isWaiting = await go(session, action, options)
  // An abort that is not finished has to be run again; nodes follow a start and a completion automatically.
  const exitCode = isWaiting && action === 'abort' ? EXIT.timedOut : 0
  const report = await reportRotation(context)
  return {text: await render(report, flags.output, rotationEndView(context.plane.dir)), exitCode}
}

const MOST_NAMES = 10

/** Whom the answer to the question is about. */
function lockedOutText(lockedOut: readonly Dependent[]): string {
  const shown = lockedOut.slice(0, MOST_NAMES).map(({kind, name}) => `${kind} ${name}`)
  const more = lockedOut.length - shown.length
  const names = `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return `this locks out ${names}; machines among them then have to join again`
}

/** Goes through the steps. Returns whether somebody is still waited for. */
async function go(
  {context, observer, progress, stop}: RotationSession,
  action: Action,
  options: RunOptions['options'],
): Promise<boolean> {
  const release = onInterruption(() => {
    stop()
    progress.leave()
    return `nothing is lost; run "${planeCommand(context.plane.dir, `ca rotate ${action}`)}" again to resume`
  })
  try {
    const {waiting} = await rotate(context, action, {...options, observer})
    progress.leave()
    return waiting.length > 0
  } finally {
    progress.stop()
    release()
  }
}
