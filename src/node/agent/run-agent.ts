import type {NodeLock} from '../node-lock.ts'
import {openAgent, type AgentOptions, type NodeAgent} from './agent.ts'
import {attendAll, attendOnce} from './duties.ts'
import {serveMetrics, type MetricsAddress} from './metrics-server.ts'
import type {NodeHome} from './node-home.ts'

/** What a process that may change the folder of a node works with. */
export interface NodeSession extends AgentOptions {
  lock: NodeLock
  /** Reads the folder again: another process may have changed it while this one waited for the lock. */
  openHome: () => Promise<NodeHome>
}

export interface RunOptions extends NodeSession {
  metricsAddress?: MetricsAddress | undefined
  /** Milliseconds between two looks at the clock and the folder. */
  tick?: number | undefined
  /** Called once the agent works. `look` makes it look at everything again. */
  onReady: (ready: {look: () => void; metrics: string | undefined}) => void
}

async function withAgent<Result>(
  options: NodeSession,
  signal: AbortSignal,
  work: (agent: NodeAgent) => Promise<Result>,
): Promise<Result> {
  try {
    await options.lock.hold(signal)
    const agent = await openAgent({...options, home: await options.openHome()})
    try {
      return await work(agent)
    } finally {
      await agent.close()
    }
  } finally {
    await options.lock.release()
  }
}

/** Keeps the node a member of its cluster until the signal. No other process changes its folder meanwhile. */
export async function runAgent(options: RunOptions, signal: AbortSignal): Promise<void> {
  const run = withAgent(options, signal, async (agent) => {
    const {metricsAddress, clock, log, tick} = options
    const server = metricsAddress && (await serveMetrics(metricsAddress, agent.metrics))
    options.onReady({look: () => agent.lookAgain(), metrics: server?.address})
    try {
      await attendAll(agent.duties, {clock, log, tick}, signal)
    } finally {
      await server?.close()
    }
  })
  await run.catch((error: unknown) => {
    // Stopped before it worked, as while it waited for the folder: that is no failure.
    if (!signal.aborted) throw error
  })
}

/** Does once what is due, for cron. */
export async function runAgentOnce(options: NodeSession, signal: AbortSignal): Promise<void> {
  await withAgent(options, signal, (agent) => attendOnce(agent.duties, options.clock, signal))
}

/** Renews now, whether it is due or not. */
export async function renewOnce(options: NodeSession, signal: AbortSignal): Promise<void> {
  await withAgent({...options, onlyRenews: true}, signal, async ({renew, duties}) => {
    await renew(signal)
    await attendOnce(duties, options.clock, signal)
  })
}
