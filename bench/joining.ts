import {setTimeout as sleep} from 'node:timers/promises'
import {generateToken} from '../src/bootstrap/generate-token.ts'
import {formatToken} from '../src/bootstrap/token.ts'
import {connect} from '../src/client/connect.ts'
import {completeToken, createToken} from '../src/control-plane/tokens/create.ts'
import {systemClock} from '../src/runtime.ts'
import type {Plane} from '../test/helpers/plane.ts'
import {usageOf} from '../test/helpers/usage.ts'
import type {Joined, JoinLoadOperations} from './processes/join-load.ts'
import type {Worker} from './processes/worker.ts'
import {median} from './rows.ts'

/** So many machines join side by side. */
const AT_ONCE = 64
/** For so long a server has done nothing when it is taken to be at rest: milliseconds. */
const REST = 300

/** A server that machines can join, in a process of its own. */
export interface JoinTarget {
  pid: number
  port: number
  /** A bootstrap token that nobody has used. */
  newToken: () => Promise<string>
}

/** What joins took, and what they cost the server. */
export interface JoinRound {
  perSecond: number
  /** Milliseconds of the server's processors a join, with the work that it does after its answer. */
  processor: number
  /** Milliseconds that half of the joins took at most. */
  middle: number
}

export const targetOf = ({cluster, pid}: Plane): JoinTarget => ({
  pid,
  port: Number(new URL(cluster.endpoint).port),
  newToken: () => tokenFor(cluster.kubeconfig),
})

/** The machines of a round have a token of their own: one token may not make as many requests within an hour as a bench does. */
export async function tokenFor(kubeconfig: string): Promise<string> {
  const client = await connect(kubeconfig)
  try {
    const token = generateToken()
    await createToken(client, completeToken({token}, systemClock.now()))
    return formatToken(token)
  } finally {
    await client.close()
  }
}

let rounds = 0

export async function joinRound(
  load: Worker<JoinLoadOperations>,
  {pid, port, newToken}: JoinTarget,
  count: number,
  atOnce = AT_ONCE,
): Promise<JoinRound> {
  const prefix = `bench${rounds++}`
  const token = await newToken()
  const before = await atRest(pid)
  const {took, each}: Joined = await load.call('joins', {port, token, prefix, count, atOnce})
  const after = await atRest(pid)
  return {
    perSecond: (count / took) * 1000,
    processor: ((after - before) * 1000) / count,
    middle: median(each),
  }
}

/** The seconds on a processor of a server, once it has done what was left to do. */
export async function atRest(pid: number): Promise<number> {
  for (;;) {
    const before = usage(pid).processor
    await sleep(REST)
    const {processor} = usage(pid)
    // One tick of the clock may be anybody's timer.
    if (processor - before <= 0.011) return processor
  }
}

export function usage(pid: number) {
  const found = usageOf(pid)
  if (found === undefined)
    throw new Error(`nothing is known of process ${pid}: it has ended, or this is no Linux`)
  return found
}

/** The middle of the rounds; the first one warmed up and does not count. */
export const middleOf = (all: readonly JoinRound[], pick: (round: JoinRound) => number): number =>
  median(all.slice(1).map(pick))
