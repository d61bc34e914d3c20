import {EventEmitter} from 'node:events'
import type {SignerRules} from '../../csr/signers.ts'
import type {Issuer} from '../../pki/issuer.ts'

/** A signer that can sign: what it signs, and what with. */
export interface Signer {
  rules: SignerRules
  /** Its CA as it is now. */
  issuer: Issuer
  /** The longest lifetime, in milliseconds, and that of requests that ask for none. */
  duration: number
}

export type SignersByName = ReadonlyMap<string, Signer>

/** The signers that a process has the CA of. They change as a whole; requests for all others are left to others. */
export class Signers {
  readonly #changes = new EventEmitter()
  #byName: SignersByName

  constructor(byName: SignersByName = new Map()) {
    this.#byName = byName
  }

  find(name: string): Signer | undefined {
    return this.#byName.get(name)
  }

  replace(byName: SignersByName): void {
    this.#byName = byName
    this.#changes.emit('change')
  }

  /** Calls back at every change; returns how to end that. */
  subscribe(changed: () => void): () => void {
    this.#changes.on('change', changed)
    return () => this.#changes.off('change', changed)
  }
}
