import {sleep} from '../../src/runtime.ts'
import type {Field, Holdings, Hit, Identity, Rate, Shot} from '../attack.ts'
import type {Caller} from './caller.ts'
import type {Tally} from './tally.ts'

/** A refusal that is longer repeats what was sent. */
const MAX_REFUSAL = 64 * 1024

/** What one attack works with, and where its answers are counted. */
export function createField(
  holdings: Holdings,
  caller: Caller,
  tally: Tally,
  signal: AbortSignal,
): Field {
  const shoot = async (identity: Identity, shot: Shot): Promise<Hit> => {
    const hit = await caller.send(identity, shot, signal)
    tally.add(String(hit.status))
    if (hit.status >= 400 && hit.text.length > MAX_REFUSAL)
      tally.breach(`a refusal of ${hit.text.length} bytes: ${label(shot)}`)
    if (hit.status === 500) tally.breach(`500 to ${label(shot)}: ${hit.text.slice(0, 200)}`)
    return hit
  }
  const flood = async ({perSecond, atOnce}: Rate, once: (number: number) => Promise<unknown>) => {
    let number = 0
    let next = performance.now()
    const interval = 1000 / perSecond
    const repeat = async () => {
      while (!signal.aborted) {
        const due = next
        next = Math.max(next + interval, performance.now())
        await sleep(Math.max(0, due - performance.now()), signal)
        await once(number++).catch((error: unknown) => {
          if (!signal.aborted) tally.add(codeOf(error))
        })
      }
    }
    await Promise.all(Array.from({length: atOnce}, repeat))
  }
  return {
    holdings,
    signal,
    shoot,
    flood,
    count: (what, times) => tally.add(what, times),
    breach: (what) => tally.breach(what),
  }
}

const label = ({method = 'GET', path}: Shot) => `${method} ${path.slice(0, 80)}`

function codeOf(error: unknown): string {
  const {code, name} = error as {code?: unknown; name?: unknown}
  if (typeof code === 'string') return code
  return typeof name === 'string' ? name : 'error'
}
