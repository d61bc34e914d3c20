import type {WellKnownSigner} from '../../csr/signers.ts'
import type {Issuer} from '../../pki/issuer.ts'

/** What a signer signs with. */
export interface SigningAuthority {
  issuer: Issuer
  /** The longest lifetime, in milliseconds, and the one of requests that ask for none. */
  duration: number
}

/** The CA of a signer as it stands now; undefined where its key is not here, and somebody else has to sign. */
export type AuthorityFor = (signer: WellKnownSigner) => SigningAuthority | undefined
