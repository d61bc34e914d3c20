import {TrustError, hasCode} from '../errors.ts'
import {ensureFolder} from './folders.ts'
import {sleep} from '../runtime.ts'
import {lockFolder} from './folder-lock.ts'

/** Says a line to whoever waits. */
export type Tell = (line: string) => void

export interface TurnOptions {
  /** What the other process works on, as in "the same control plane". */
  what: string
  tell?: Tell | undefined
  /** How many milliseconds to wait for one's turn. */
  patience?: number | undefined
  /** Ends the waiting. */
  signal?: AbortSignal | undefined
}

/** Longer than a first `init` takes on a slow machine. */
const PATIENCE = 120_000
const PAUSE = 100

const nameOf = (pid: number | undefined): string =>
  pid === undefined ? 'another process' : `process ${pid}`

/** Waits until no other process holds the folder of locks, which is made where it is not there. Answers how to let go of it. */
export async function takeTurn(
  folder: string,
  {what, tell, patience = PATIENCE, signal}: TurnOptions,
): Promise<() => Promise<void>> {
  await ensureFolder(folder)
  const end = performance.now() + patience
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await lockFolder(folder)
    } catch (error) {
      if (!hasCode(error, 'STORE_LOCKED')) throw error
      const pid = error.facts.pid as number | undefined
      if (performance.now() > end) throw stillBusy(what, pid, error)
      if (isFirst) tell?.(`waiting for ${nameOf(pid)}, which changes ${what}`)
    }
    await sleep(PAUSE, signal)
  }
}

function stillBusy(what: string, pid: number | undefined, cause: unknown): TrustError {
  return new TrustError('CONFLICT', `${nameOf(pid)} is changing ${what}`, {
    cause,
    hints: ['run the command again once that has ended'],
  })
}
