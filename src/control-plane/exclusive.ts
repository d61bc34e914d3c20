import {TrustError, hasCode} from '../errors.ts'
import {ensureFolder} from '../pki/folders.ts'
import {sleep} from '../runtime.ts'
import {lockFolder} from '../storage/store-lock.ts'
import {fileOf} from './config/plane.ts'

/** Longer than a first `init` takes on a slow machine. */
const PATIENCE = 120_000
const PAUSE = 100

/** Says a line to whoever waits. */
export type Tell = (line: string) => void

const nameOf = (pid: number | undefined): string =>
  pid === undefined ? 'another process' : `process ${pid}`

async function takeTurn(folder: string, tell: Tell): Promise<() => Promise<void>> {
  const end = performance.now() + PATIENCE
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await lockFolder(folder)
    } catch (error) {
      if (!hasCode(error, 'STORE_LOCKED')) throw error
      const pid = error.facts.pid as number | undefined
      if (performance.now() > end) throw stillBusy(pid, error)
      if (isFirst) tell(`waiting for ${nameOf(pid)}, which changes the same control plane`)
    }
    await sleep(PAUSE)
  }
}

function stillBusy(pid: number | undefined, cause: unknown): TrustError {
  return new TrustError('CONFLICT', `${nameOf(pid)} is changing this control plane`, {
    cause,
    hints: ['run the command again once that has ended'],
  })
}

/**
 * Lets only one command at a time change the control plane of a folder; others wait for their turn. Two that make certificates and
 * settings at once would each keep half of the other's.
 */
export async function exclusively<Result>(
  dir: string,
  work: () => Promise<Result>,
  tell: Tell = () => undefined,
): Promise<Result> {
  await ensureFolder(dir)
  await ensureFolder(fileOf({dir}, 'lock'))
  const release = await takeTurn(fileOf({dir}, 'lock'), tell)
  try {
    return await work()
  } finally {
    await release()
  }
}
