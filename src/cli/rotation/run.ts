import type {Action} from '../../control-plane/ca-rotation/journal.ts'
import {reportRotation, type RotationReport} from '../../control-plane/ca-rotation/report.ts'
import {rotate, type RotateOptions} from '../../control-plane/ca-rotation/rotate.ts'
import {STEPS} from '../../control-plane/ca-rotation/steps.ts'
import {EXIT} from '../../errors.ts'
import type {View} from '../output.ts'
import {confirm} from '../prompt.ts'
import {rotationView} from '../views/ca-rotation.ts'
import type {RotationSession} from './session.ts'

interface RunFlags {
  'dry-run': boolean
  yes: boolean
}

interface RunOptions {
  options: Omit<RotateOptions, 'observer'>
  flags: RunFlags
  /** Asked before anything is changed. */
  question: string
}

export interface RotationDone {
  /** Absent if nothing was done. */
  report?: RotationReport
  view: View<RotationReport>
  exitCode: number
}

/** Runs one of the commands that rotate: asks, goes through the steps, and reports. */
export async function runRotation(
  {context, observer, tell}: RotationSession,
  action: Action,
  {options, flags, question}: RunOptions,
): Promise<RotationDone> {
  const view = rotationView
  if (flags['dry-run']) {
    tell(`"ca rotate ${action}" would do this:`)
    for (const {summary} of STEPS[action]) tell(`- ${summary}`)
    return {report: await reportRotation(context), view, exitCode: 0}
  }
  if (!flags.yes && !(await confirm(question))) {
    tell('nothing was changed')
    return {view, exitCode: EXIT.failed}
  }
  const {waiting} = await rotate(context, action, {...options, observer})
  const report = await reportRotation(context)
  // An abort that is not finished has to be run again; nodes follow a start by themselves.
  const exitCode = waiting.length > 0 && action !== 'start' ? EXIT.timedOut : 0
  return {report, view, exitCode}
}
