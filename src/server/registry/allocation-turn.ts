import {sleep} from '../../runtime.ts'
import {unavailable} from '../kernel/status.ts'
import {catchUp} from './freshness.ts'
import type {KeyedLock} from './resource-store.ts'
import type {WriteServices, WriteTarget} from './write.ts'

/** Not the key of an object. */
const WHOLE_RANGE = ''
/** In milliseconds. With a slow store, those at the end of the line are better off asking again. */
const LONGEST_WAIT = 5000

/**
 * Lets the writers of objects that share a range work in sequence, each with everything that any server has acknowledged. Returns the
 * function that ends the turn.
 */
export async function allocationTurn(
  {registry}: WriteServices,
  {store, context}: WriteTarget,
  longestWait = LONGEST_WAIT,
): Promise<() => void> {
  const {resource, turns} = store
  if (resource.allocates !== true || context.subresource !== '' || context.dryRun)
    return () => undefined
  const endTurn = await turnIn(turns, resource.plural, longestWait)
  try {
    await catchUp(registry)
    return endTurn
  } catch (error) {
    endTurn()
    throw error
  }
}

async function turnIn(turns: KeyedLock, what: string, longestWait: number): Promise<() => void> {
  const turn = turns.take(WHOLE_RANGE)
  const waiting = new AbortController()
  const tooLong = sleep(longestWait, waiting.signal).catch(() => undefined)
  const endTurn = await Promise.race([turn, tooLong])
  waiting.abort()
  if (endTurn) return endTurn
  void turn.then((end) => end())
  throw unavailable(`too many ${what} are written at the same time`)
}
