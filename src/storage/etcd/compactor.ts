import {hasCode, messageOf} from '../../errors.ts'
import {systemClock, type Clock, every} from '../../runtime.ts'
import {autoCompactor, DEFAULT_HISTORY, type HistoryLimits} from '../compaction.ts'
import {storeError} from './failure.ts'
import type {Gateway} from './gateway.ts'
import type {EtcdKeys, WireLease, WireTxn} from './messages.ts'

const EVERY = 30_000
const LEASE_SECONDS = 90

/** Compacts etcd's history from time to time. Of all servers with one prefix, the one that holds the lease does it. */
export class EtcdCompactor {
  readonly #gateway: Gateway
  readonly #key: string
  readonly #leaseSeconds: number
  #lease: string | undefined

  /** `leaseSeconds`: how long nobody else compacts after it died. */
  constructor(gateway: Gateway, keys: EtcdKeys, leaseSeconds = LEASE_SECONDS) {
    this.#gateway = gateway
    this.#leaseSeconds = leaseSeconds
    this.#key = keys.own('compactor')
  }

  /** Returns a function that stops it and gives the lease back. */
  start(
    revision: () => Promise<number>,
    tell: (line: string) => void,
    {clock = systemClock, limits = DEFAULT_HISTORY}: {clock?: Clock; limits?: HistoryLimits} = {},
  ): () => Promise<void> {
    const compact = autoCompactor(
      {
        revision,
        compact: async (target) => {
          await this.compactAsLeader(target)
        },
        // etcd has a quota of its own.
        usage: () => ({live: 0, history: 0}),
        historyWithin: () => 0,
      },
      clock,
      limits,
    )
    let last = Promise.resolve()
    const stop = every(EVERY, () => {
      last = last.then(compact).catch((error: unknown) => {
        if (!hasCode(error, 'STORE_CLOSED', 'STORE_UNREACHABLE'))
          tell(`error: cannot compact etcd: ${messageOf(error)}`)
      })
    })
    return async () => {
      stop()
      await this.#release()
    }
  }

  /** Does nothing if another server holds the lease. */
  async compactAsLeader(revision: number): Promise<boolean> {
    try {
      if (!(await this.#leads())) return false
      await this.compact(revision)
      return true
    } catch (error) {
      throw storeError(error)
    }
  }

  /** Somebody else may have compacted further. */
  async compact(revision: number): Promise<void> {
    try {
      await this.#gateway.call('kv/compaction', {revision: String(revision)})
    } catch (error) {
      const known = storeError(error)
      if (!hasCode(known, 'STORE_COMPACTED')) throw known
    }
  }

  async #leads(): Promise<boolean> {
    if (this.#lease !== undefined && (await this.#keepAlive(this.#lease))) return true
    this.#lease = undefined
    const grant = {TTL: String(this.#leaseSeconds), ID: '0'}
    const {ID} = await this.#gateway.call<WireLease>('lease/grant', grant)
    const {succeeded} = await this.#gateway.call<WireTxn>('kv/txn', {
      compare: [{key: this.#key, target: 'MOD', result: 'EQUAL', mod_revision: '0'}],
      success: [{request_put: {key: this.#key, value: '', lease: ID}}],
    })
    if (succeeded) this.#lease = ID
    else await this.#gateway.call('lease/revoke', {ID})
    return succeeded === true
  }

  async #keepAlive(ID: string): Promise<boolean> {
    const {result} = await this.#gateway.call<{header?: never; result?: WireLease}>(
      'lease/keepalive',
      {ID},
    )
    return Number(result?.TTL ?? 0) > 0
  }

  async #release(): Promise<void> {
    const lease = this.#lease
    this.#lease = undefined
    // If this fails, the lease ends soon.
    if (lease !== undefined)
      await this.#gateway.call('lease/revoke', {ID: lease}).catch(() => undefined)
  }
}
