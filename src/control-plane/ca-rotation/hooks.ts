import {join} from 'node:path'
import {TrustError} from '../../errors.ts'
import {runShellCommand} from '../../node/shell-command.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import type {Unit} from './units.ts'

export interface HookOptions {
  /** The step of the rotation, for the command. */
  step: string
  tell: (line: string) => void
  signal?: AbortSignal | undefined
}

/**
 * Runs the commands of the CAs that an operator has added, after a rotation has changed their files: programs that use a CA must follow
 * before the next step. The step is not done before all of them succeed, so they may run several times.
 */
export async function runHooks(
  plane: Plane,
  units: readonly Unit[],
  {step, tell, signal = new AbortController().signal}: HookOptions,
): Promise<void> {
  for (const {id, spec, added} of units) {
    if (!spec || added?.onChange === undefined) continue
    tell(`"${id}": running its command`)
    const ended = await runShellCommand({
      command: added.onChange,
      variables: {
        TRUSTADM_CA: id,
        TRUSTADM_CA_CERTIFICATE: join(certDirOf(plane), spec.place.crt),
        TRUSTADM_CA_KEY: join(certDirOf(plane), spec.place.key),
        TRUSTADM_ROTATION_STEP: step,
      },
      signal,
    })
    if (ended === undefined) continue
    throw new TrustError('ON_CHANGE_FAILED', `the command of the CA "${id}" ${ended}`, {
      hints: [
        'see its output for the reason; it is onChange of that CA in config.yaml',
        'run the command again: it resumes',
      ],
      facts: {ca: id, step},
    })
  }
}
