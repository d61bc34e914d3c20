import {spawn, type ChildProcess} from 'node:child_process'

export interface ShellCommandOptions {
  /** For the shell. */
  command: string
  /** More variables for the command. */
  variables: Readonly<Record<string, string>>
  signal: AbortSignal
  /** Milliseconds. */
  longest?: number | undefined
  /** Milliseconds until a command that does not end when it is asked to is killed. */
  grace?: number | undefined
}

/** Longer than most daemons take to restart. */
const LONGEST = 5 * 60_000
const GRACE = 5000

/** Runs a command of an operator. Its output goes to the standard error. Returns how it failed; undefined if it succeeded. */
export async function runShellCommand({
  command,
  variables,
  signal,
  longest = LONGEST,
  grace = GRACE,
}: ShellCommandOptions): Promise<string | undefined> {
  signal.throwIfAborted()
  const child = spawn(command, {
    shell: true,
    // A group of its own, so that what the shell has started can be ended too.
    detached: true,
    stdio: ['ignore', 2, 2],
    env: {...process.env, ...variables},
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
  return ended
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
