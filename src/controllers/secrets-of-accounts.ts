import type {Secret} from '../api/core.ts'
import {ACCOUNT_NAME} from '../csr/bootstrapper.ts'

/** Which Secrets with tokens an account has, by the key of the account. */
export class SecretsOfAccounts {
  readonly #secrets = new Map<string, Set<string>>()
  readonly #accountOf = new Map<string, string>()

  /** The key of a Secret, once it is known whose it is. */
  see({metadata}: Pick<Secret, 'metadata'>, key: string): [string] {
    const account = `${metadata.namespace ?? ''}/${metadata.annotations?.[ACCOUNT_NAME] ?? ''}`
    if (this.#accountOf.get(key) !== account) this.forget(key)
    this.#accountOf.set(key, account)
    this.#secrets.set(account, (this.#secrets.get(account) ?? new Set()).add(key))
    return [key]
  }

  of(account: string): Iterable<string> {
    return this.#secrets.get(account) ?? []
  }

  all(): string[] {
    return [...this.#accountOf.keys()]
  }

  forget(key: string): void {
    const account = this.#accountOf.get(key)
    if (account === undefined) return
    this.#accountOf.delete(key)
    const keys = this.#secrets.get(account)
    keys?.delete(key)
    if (keys?.size === 0) this.#secrets.delete(account)
  }
}
