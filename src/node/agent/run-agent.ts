import {ensureFolder} from '../../fs/folders.ts'
import {nodeFile} from '../node-files.ts'
import {isJoining, joinEnded, type NodeLock} from '../node-lock.ts'
import {openAgent, type AgentOptions, type NodeAgent} from './agent.ts'
import {attendAll, attendOnce, type Duty} from './duties.ts'
import {serveMetrics, type MetricsAddress} from './metrics-server.ts'
import type {NodeHome} from './node-home.ts'

/** What a process that may change the folder of a node works with. */
export interface NodeSession extends AgentOptions {
  lock: NodeLock
  /** Reads the folder again: another process may have changed it while this one waited for the lock. */
  openHome: () => Promise<NodeHome>
  /** Stores a pair that only kubelet.conf holds. Called with the lock. */
  takeOver: () => Promise<void>
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
    await options.takeOver()
    const home = await options.openHome()
    // As join does: whoever may write to these folders could replace what is trusted. Those of a kubelet are only checked.
    const repair = !home.isKubelets
    for (const folder of [nodeFile(home.dir, 'pki'), home.certDir])
      await ensureFolder(folder, {repair})
    const agent = await openAgent({...options, home})
    options.lock.answer(() => agent.answer())
    try {
      return await work(agent)
    } finally {
      await agent.close()
    }
  } finally {
    await options.lock.release()
  }
}

/** For so long after a change another one may follow: a new CA leads to new certificates within some seconds. */
const SETTLING = 15_000

/**
 * Keeps the node a member of its cluster until the signal. No other process changes its folder meanwhile, but for a `join`: it gets the
 * folder until it ends, because it may have what the agent lacks, as a token or a new CA.
 */
export async function runAgent(given: RunOptions, signal: AbortSignal): Promise<void> {
  const options = {...given, settling: given.settling ?? SETTLING}
  const {home, log} = options
  let current: NodeAgent | undefined
  try {
    while (!signal.aborted) {
      await runUntilJoin(options, signal, (agent, metrics) => {
        const isFirst = current === undefined
        current = agent
        if (isFirst) options.onReady({look: () => current?.lookAgain(), metrics})
      })
      if (signal.aborted) return
      log('a join works in the folder of the node: waiting until it has ended')
      await joinEnded(home.dir, signal)
    }
  } catch (error) {
    // Stopped before it worked, as while it waited for the folder: that is no failure.
    if (!signal.aborted) throw error
  }
}

async function runUntilJoin(
  options: RunOptions,
  signal: AbortSignal,
  onReady: (agent: NodeAgent, metrics: string | undefined) => void,
): Promise<void> {
  const {home, metricsAddress, clock, log, tick} = options
  const joining = new AbortController()
  const turn = AbortSignal.any([signal, joining.signal])
  const letGo: Duty = {
    name: 'letting go of the folder for a join',
    nextAt: () => new Date(0),
    isDue: () => isJoining(home.dir),
    work: () => {
      joining.abort()
      return Promise.resolve()
    },
  }
  await withAgent(options, turn, async (agent) => {
    const server = metricsAddress && (await serveMetrics(metricsAddress, agent.metrics))
    onReady(agent, server?.address)
    try {
      await attendAll([...agent.duties, letGo], {clock, log, tick}, turn)
    } finally {
      await server?.close()
    }
  })
}

/** Does once what is due, for cron. A process that ends cannot wait for its turn to follow a new CA. */
export async function runAgentOnce(options: NodeSession, signal: AbortSignal): Promise<void> {
  await withAgent({...options, issuerSpread: 0}, signal, (agent) =>
    attendOnce(agent.duties, options.clock, signal),
  )
}

/** Renews now, whether it is due or not. */
export async function renewOnce(options: NodeSession, signal: AbortSignal): Promise<void> {
  await withAgent({...options, onlyRenews: true}, signal, async ({renew, duties}) => {
    const failures: unknown[] = []
    // What was renewed before the failure has to be announced and reported all the same.
    for (const work of [renew, () => attendOnce(duties, options.clock, signal)]) {
      await work(signal).catch((error: unknown) => {
        signal.throwIfAborted()
        failures.push(error)
      })
    }
    if (failures.length > 0) throw failures[0]
  })
}
