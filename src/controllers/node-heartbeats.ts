import type {Lease} from '../api/coordination.ts'
import type {Node} from '../api/node.ts'
import type {Clock} from '../runtime.ts'

/** Where kubelets renew a Lease every ten seconds to say that they are alive. */
export const HEARTBEAT_NAMESPACE = 'kube-node-lease'

/** How long a node may be silent, as --node-monitor-grace-period. */
const GRACE = 40_000

interface Heartbeat {
  /** By the clock of this process: those of the nodes may differ. */
  seen: number
  renewed: string | undefined
  reported: string | undefined
}

/**
 * When each node was last heard of: by its Lease, or by its own report of its state. Nodes that no kubelet has ever reported on are not
 * in here, so a machine that joined without one is not called lost.
 */
export class NodeHeartbeats {
  readonly #clock: Clock
  readonly #nodes = new Map<string, Heartbeat>()
  #checked: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#checked = clock.now().getTime()
  }

  noteLease({metadata, spec}: Lease): void {
    const {name = ''} = metadata
    if (spec?.renewTime === undefined) return
    this.#note(name, 'renewed', spec.renewTime)
  }

  noteNode({metadata, status}: Node): void {
    const {name = ''} = metadata
    const ready = status?.conditions?.find(({type}) => type === 'Ready')
    if (ready?.status !== 'True') return
    this.#note(name, 'reported', ready.lastHeartbeatTime ?? '')
  }

  forget(name: string): void {
    this.#nodes.delete(name)
  }

  /** The nodes that have been silent for too long. After a pause of this process, such as a suspended machine, all get their time again. */
  overdue(period: number): string[] {
    const now = this.#clock.now().getTime()
    const missed = now - this.#checked - period
    this.#checked = now
    if (missed > period || missed < -period) {
      for (const heartbeat of this.#nodes.values()) heartbeat.seen = now
    }
    return [...this.#nodes].filter(([, {seen}]) => now - seen > GRACE).map(([name]) => name)
  }

  isOverdue(name: string): boolean {
    const heartbeat = this.#nodes.get(name)
    return heartbeat !== undefined && this.#clock.now().getTime() - heartbeat.seen > GRACE
  }

  #note(name: string, how: 'renewed' | 'reported', value: string): void {
    const before = this.#nodes.get(name)
    if (before?.[how] === value) return
    const seen = this.#clock.now().getTime()
    this.#nodes.set(name, {
      renewed: before?.renewed,
      reported: before?.reported,
      [how]: value,
      seen,
    })
  }
}
