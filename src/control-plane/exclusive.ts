import {ensureFolder} from '../fs/folders.ts'
import {takeTurn, type Tell} from '../fs/turn.ts'
import {fileOf} from './config/plane.ts'

export type {Tell} from '../fs/turn.ts'

/**
 * Lets only one command at a time change the control plane of a folder; others wait for their turn. Two that make certificates and
 * settings at once would each keep half of the other's.
 */
export async function exclusively<Result>(
  dir: string,
  work: () => Promise<Result>,
  tell: Tell = () => undefined,
  signal?: AbortSignal,
): Promise<Result> {
  await ensureFolder(dir)
  const release = await takeTurn(fileOf({dir}, 'lock'), {
    what: 'the same control plane',
    tell,
    signal,
  })
  try {
    return await work()
  } finally {
    await release()
  }
}
