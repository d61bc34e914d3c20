import {messageOf, TrustError} from '../../errors.ts'
import {numberOf, type WireKeyValue} from './messages.ts'

/** Which revision of the mark counts from now on; throws if nobody may write here any more. */
export type Judge = () => Promise<number>

/**
 * A mark beside the objects that every transaction names, and every question for the revision. Whoever moves the objects elsewhere
 * changes it. So a server that was stopped meanwhile, however long, writes nothing behind: it finds another mark.
 */
export class Guard {
  readonly key: string
  readonly #judge: Judge
  #revision: number
  #judging: Promise<void> | undefined

  constructor(key: string, revision: number, judge: Judge) {
    this.key = key
    this.#revision = revision
    this.#judge = judge
  }

  /** What a transaction requires. */
  get compare(): object {
    return {key: this.key, target: 'MOD', result: 'EQUAL', mod_revision: String(this.#revision)}
  }

  /** Asks for the state of the mark alone. */
  get range(): object {
    return {key: this.key, keys_only: true}
  }

  /** Takes the mark as an answer of etcd shows it. Returns whether it is another one, with which the server may go on. */
  async hasChanged(found: WireKeyValue | undefined): Promise<boolean> {
    if (numberOf(found?.mod_revision) === this.#revision) return false
    this.#judging ??= this.#judge()
      .then((revision) => void (this.#revision = revision))
      .finally(() => (this.#judging = undefined))
    await this.#judging
    return true
  }
}

/** What everybody gets from then on. */
export const lostError = (reason: unknown): TrustError =>
  new TrustError('STORE_CLOSED', `the store is closed: ${messageOf(reason)}`, {cause: reason})
