import type {Holdings} from '../attack.ts'
import type {TallyCounts} from './tally.ts'

/** The first message to a generator. It answers READY; the next message starts the attacks, the third ends them. */
export interface Orders {
  holdings: Holdings
  attacks: string[]
}

export const READY = 'ready'

/** What it tells while it attacks. */
export type Dispatch = Record<string, TallyCounts>
