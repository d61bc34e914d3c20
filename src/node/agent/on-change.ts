import {TrustError} from '../../errors.ts'
import {runShellCommand, type ShellCommandOptions} from '../shell-command.ts'
import type {Change} from './agent-state.ts'

export interface OnChangeOptions extends ShellCommandOptions {
  changes: readonly Change[]
}

/** Runs the command of `--on-change`, with what has changed in its environment. */
export async function runOnChange({changes, variables, ...how}: OnChangeOptions): Promise<void> {
  const ended = await runShellCommand({
    ...how,
    variables: {...variables, TRUSTADM_CHANGED: changes.join(',')},
  })
  if (ended === undefined) return
  throw new TrustError('ON_CHANGE_FAILED', `the command of --on-change ${ended}`, {
    hints: ['it is run again until it succeeds; see its output for the reason'],
    facts: {changes: [...changes]},
  })
}
