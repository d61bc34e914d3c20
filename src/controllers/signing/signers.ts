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

/** The signers that a process has the CA of; requests for all others are left to others. */
export type SignersByName = ReadonlyMap<string, Signer>
