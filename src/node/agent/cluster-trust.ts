import {refreshClusterInfo} from '../../discovery/refresh.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import type {NodeConnection} from '../certificate-manager/connection.ts'
import {ensureFiles, nodeRecord} from '../node-files.ts'
import {asShutOut, serverHealth, Wait} from '../failures.ts'
import {failureOf, type AgentRecord} from './agent-state.ts'
import type {Duty} from './duties.ts'
import {trustFiles, type NodeHome} from './node-home.ts'

export interface ClusterTrustOptions {
  home: NodeHome
  connection: NodeConnection
  record: AgentRecord
  clock: Clock
  random: () => number
  log: (line: string) => void
}

const MINUTE = 60_000

/** When to read cluster-info again: after 5 to 10 minutes, so that a fleet does not ask all at once. */
export const refreshAfter = (random: () => number): number => (5 + 5 * random()) * MINUTE

/** What the node knows about its cluster. It is read again regularly, and follows rotations of the CA. */
export class ClusterTrust {
  readonly #options: ClusterTrustOptions
  readonly #wait: Wait
  #home: NodeHome

  constructor(options: ClusterTrustOptions) {
    this.#options = options
    this.#wait = new Wait(options.clock)
    this.#home = options.home
  }

  get home(): NodeHome {
    return this.#home
  }

  get duty(): Duty {
    return {
      name: 'reading cluster-info',
      nextAt: () => this.#wait.until,
      work: (signal) => this.#refresh(signal),
    }
  }

  refreshNow(): void {
    this.#wait.end()
  }

  /** Writes what a killed run has left unwritten. */
  async restoreFiles(): Promise<void> {
    for (const path of await ensureFiles(trustFiles(this.#home), nodeRecord(this.#home.dir))) {
      this.#options.log(`${path} was written again`)
    }
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const {clock, random, record, connection, log} = this.#options
    this.#wait.start(refreshAfter(random))
    try {
      const {info, changed, problem} = await refreshClusterInfo(this.#home.info, {clock, signal})
      if (problem !== undefined) throw asShutOut(problem, this.#home)
      if (changed) {
        const next = {...this.#home, info}
        await ensureFiles(trustFiles(next), nodeRecord(next.dir))
        this.#home = next
        await connection.follow(info)
        log(`the cluster's CAs or its address have changed; now trusted: ${info.pins.join(', ')}`)
      }
      const readAt = formatTimestamp(clock.now())
      await record.change((state) => ({...state, clusterInfo: {readAt}}))
    } catch (error) {
      if (signal.aborted) throw error
      if (serverHealth(error) === false) connection.onLost?.()
      await record.change((state) => ({
        ...state,
        clusterInfo: {...state.clusterInfo, error: failureOf(error)},
      }))
      throw error
    }
  }
}
