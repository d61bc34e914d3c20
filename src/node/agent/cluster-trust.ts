import {refreshClusterInfo} from '../../discovery/refresh.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import type {NodeConnection} from '../certificate-manager/connection.ts'
import type {Pair} from '../certificate-manager/pair.ts'
import {
  changeTrust,
  isTrustChanged,
  restoreAuthorities,
  useLink,
  withTrustOf,
} from '../kubelet-folder.ts'
import {ensureFiles, nodeFile, nodeRecord} from '../node-files.ts'
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

  /** Whether kubelet.conf still holds a pair that this one has replaced. */
  isGivenReplacedBy(current: Pair | undefined): boolean {
    const {given} = this.#home
    return given !== undefined && current !== undefined && current.certificate.fingerprint !== given
  }

  /** Writes what a killed run has left unwritten. kubelet.conf stays while its pair is in use and was not obtained by a manager. */
  async restoreFiles(current: Pair | undefined): Promise<void> {
    const {dir, given, isKubelets} = this.#home
    const isReplaced = this.isGivenReplacedBy(current)
    if (isKubelets) {
      this.#log(await restoreAuthorities(this.#home))
      if (isReplaced) this.#log(await useLink(this.#home))
    } else {
      const conf = nodeFile(dir, 'kubeconfig')
      const files = trustFiles(this.#home).filter(
        ({path}) => path !== conf || given === undefined || isReplaced,
      )
      this.#log(await ensureFiles(files, nodeRecord(dir)))
    }
    if (isReplaced) this.#home = {...this.#home, given: undefined}
  }

  #log(written: readonly string[]): void {
    for (const path of written) this.#options.log(`${path} was written again`)
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const {clock, random, record, connection, log} = this.#options
    this.#wait.start(refreshAfter(random))
    try {
      const home = this.#home
      const found = await refreshClusterInfo(home.info, {clock, signal})
      if (found.problem !== undefined) throw asShutOut(found.problem, home)
      const info = home.isKubelets ? withTrustOf(home.info, found.info) : found.info
      if (home.isKubelets ? isTrustChanged(home.info, info) : found.changed) {
        const next = {...home, info}
        if (home.isKubelets) await changeTrust(home, info)
        else await ensureFiles(trustFiles(next), nodeRecord(next.dir))
        this.#home = {...next, given: this.#home.given}
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
