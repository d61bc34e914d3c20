import {hasCode} from '../../errors.ts'
import {openNodeHome} from '../../node/agent/node-home.ts'
import type {Clock} from '../../runtime.ts'
import {joinedDirOf} from '../folders.ts'
import {openJoinSession, runJoinSession} from '../join-session.ts'
import type {AgentFlagValues} from './agent-flags.ts'

/** Joins with the bootstrap kubeconfig of a machine image, unless the machine has joined already. */
export async function joinFirst(
  flags: AgentFlagValues & {quiet: boolean; verbose: boolean},
  clock: Clock,
): Promise<void> {
  try {
    await openNodeHome(await joinedDirOf(flags.dir), flags['cert-dir'], clock)
  } catch (error) {
    if (!hasCode(error, 'NOT_JOINED')) throw error
    const {quiet, verbose, dir} = flags
    const named = {
      'cert-dir': flags['cert-dir'],
      'bootstrap-kubeconfig': flags['bootstrap-kubeconfig'],
      'node-name': flags['node-name'],
    }
    const session = await openJoinSession([], {dir, ...named, quiet, verbose}, clock)
    await runJoinSession(session, session.phases)
  }
}
