import {join} from 'node:path'
import {openAgent, type AgentOptions, type NodeAgent} from '../../../src/node/agent/agent.ts'
import {attendOnce} from '../../../src/node/agent/duties.ts'
import {openNodeHome, type NodeHome} from '../../../src/node/agent/node-home.ts'
import {DEFAULT_WINDOW} from '../../../src/node/certificate-manager/rotation-deadline.ts'
import {joinPhases, runJoin} from '../../../src/node/join/join.ts'
import {joinRequest, startJoinableCluster, useFolder, type JoinableCluster} from '../support.ts'

const never = new AbortController().signal

/** Adds to the time, and stays real otherwise: the certificates are. */
class ShiftedClock {
  shift = 0
  now(): Date {
    return new Date(Date.now() + this.shift)
  }
}

export interface AgentFixture {
  cluster: () => JoinableCluster
  dir: () => string
  home: () => Promise<NodeHome>
  clock: ShiftedClock
  /** The signers whose requests wait for a person. */
  waiting: Set<string>
  /** All that the agents of a test have said. */
  lines: string[]
  /** An agent of the node; closed after the test. */
  open: (more?: Partial<AgentOptions>) => Promise<NodeAgent>
  /** Does once all that is due. */
  attend: (agent: NodeAgent) => Promise<void>
}

/** A cluster that issues whatever is asked for, and the node "one" that has joined it. */
export function useAgents(): AgentFixture {
  const folder = useFolder()
  const dir = () => join(folder(), 'node')
  const clock = new ShiftedClock()
  const waiting = new Set<string>()
  const lines: string[] = []
  const agents: NodeAgent[] = []
  let cluster: JoinableCluster
  let issuing: {stop: () => Promise<void>}
  beforeEach(async () => {
    clock.shift = 0
    lines.length = 0
    waiting.clear()
    cluster = await startJoinableCluster()
    issuing = cluster.issueAll(({spec}) => !waiting.has(spec.signerName))
    await runJoin(joinRequest(cluster.settings(dir(), 'one')), joinPhases())
  })
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close()
    await issuing.stop()
    await cluster.stop()
  })
  const open = async (more: Partial<AgentOptions> = {}) => {
    const agent = await openAgent({
      home: await openNodeHome(dir()),
      window: DEFAULT_WINDOW,
      rotatesClient: true,
      serving: false,
      bootstrap: () => Promise.resolve(undefined),
      clock,
      random: () => 0.5,
      log: (line) => void lines.push(line),
      ...more,
    })
    agents.push(agent)
    return agent
  }
  return {
    cluster: () => cluster,
    dir,
    home: () => openNodeHome(dir()),
    clock,
    waiting,
    lines,
    open,
    attend: (agent) => attendOnce(agent.duties, clock, never),
  }
}
