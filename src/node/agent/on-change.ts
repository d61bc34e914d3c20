import {spawn, type ChildProcess} from 'node:child_process'
import {TrustError} from '../../errors.ts'
import type {Change} from './agent-state.ts'

export interface OnChangeOptions {
  /** For the shell. */
  command: string
  changes: readonly Change[]
  /** More variables for the command. */
  variables: Readonly<Record<string, string>>
  signal: AbortSignal
  /** Milliseconds. */
  longest?: number
  /** Milliseconds until a command that does not end when it is asked to is killed. */
  grace?: number
}

/** Longer than most daemons take to restart. */
const LONGEST = 5 * 60_000
const GRACE = 5000

/** Runs the command of `--on-change`, with what has changed in its environment. Its output goes to the standard error. */
export async function runOnChange({
  command,
  changes,
  variables,
  signal,
  longest = LONGEST,
  grace = GRACE,
}: OnChangeOptions): Promise<void> {
  signal.throwIfAborted()
  const child = spawn(command, {
    shell: true,
    // A group of its own, so that what the shell has started can be ended too.
    detached: true,
    stdio: ['ignore', 2, 2],
    env: {...process.env, ...variables, TRUSTADM_CHANGED: changes.join(',')},
  })
  let killing: NodeJS.Timeout | undefined
  let giveUp: () => void = () => undefined
  const end = () => {
    signalGroup(child, 'SIGTERM')
    killing ??= setTimeout(() => {
      signalGroup(child, 'SIGKILL')
      giveUp()
    }, grace)
  }
  const timer = setTimeout(end, longest)
  signal.addEventListener('abort', end, {once: true})
  const ended = await new Promise<string | undefined>((resolve) => {
    // Not waited for any longer: what runs as another user cannot be killed.
    giveUp = () => resolve('did not end when it was asked to')
    child.once('error', (error) => resolve(`could not be run: ${error.message}`))
    child.once('exit', (code, by) => {
      if (code === 0) resolve(undefined)
      else resolve(by === null ? `ended with ${code}` : `was ended by ${by}`)
    })
  })
  clearTimeout(killing)
  clearTimeout(timer)
  signal.removeEventListener('abort', end)
  signal.throwIfAborted()
  if (ended === undefined) return
  throw new TrustError('ON_CHANGE_FAILED', `the command of --on-change ${ended}`, {
    hints: ['it is run again until it succeeds; see its output for the reason'],
    facts: {changes: [...changes]},
  })
}

/** To the command and all that it has started. It may have ended, or run as another user: neither is an error here. */
function signalGroup({pid, exitCode}: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null) return
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody could do anything about it.
  }
}
