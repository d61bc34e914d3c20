import {randomBytes} from 'node:crypto'
import type {Gateway} from './gateway.ts'
import {numberOf, revisionOf, type EtcdKeys, type WireLease, type WireRange} from './messages.ts'
import type {FenceMark} from './transactions.ts'

/** Far longer than a member can be stopped and still send on what it had received before. */
const KEPT_SECONDS = 3_600

/**
 * A create whose answer was lost may wait at a stopped member and happen much later. Every create requires that this process's fence
 * key is at a revision; moving the fence makes sure that no earlier one can happen any more. (An update or a deletion needs no fence:
 * it can happen only while the key is at the revision that it names.)
 */
export class Fence {
  readonly #gateway: Gateway
  readonly #key: string
  #revision = 0

  constructor(gateway: Gateway, keys: EtcdKeys) {
    this.#gateway = gateway
    this.#key = keys.own(`fence-${randomBytes(8).toString('hex')}`)
  }

  get mark(): FenceMark {
    return {key: this.#key, revision: this.#revision}
  }

  /** After this, no create with an earlier mark can happen. Returns the revision of the move. */
  async move(deadline: number): Promise<number> {
    const grant = {TTL: String(KEPT_SECONDS), ID: '0'}
    const {ID} = await this.#gateway.call<WireLease>('lease/grant', grant, {deadline})
    const put = {key: this.#key, value: '', lease: ID}
    const answer = await this.#gateway.call('kv/put', put, {deadline})
    this.#revision = revisionOf(answer)
    return this.#revision
  }

  /** Where the fence is now: its lease may have ended. */
  async reread(deadline: number): Promise<void> {
    const range = {key: this.#key}
    const {kvs} = await this.#gateway.call<WireRange>('kv/range', range, {deadline})
    this.#revision = numberOf(kvs?.[0]?.mod_revision)
  }
}
