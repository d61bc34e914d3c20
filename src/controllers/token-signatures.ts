import type {Secret} from '../api/core.ts'
import {jwsKey} from '../bootstrap/cluster-info.ts'
import {detachedSigner} from '../bootstrap/jws.ts'
import {expirationOf} from '../bootstrap/read-token-secret.ts'
import type {BootstrapToken} from '../bootstrap/token.ts'
import {signingToken} from '../bootstrap/use-token.ts'
import {slices} from './kernel/pace.ts'

/** Makes the signer of one content. */
export type SignerFor = (content: string) => (token: BootstrapToken) => string

/** What a Secret has been found to hold; good for as long as it has not changed. */
interface Known {
  token: BootstrapToken | undefined
  expires: Date | undefined
  signature?: {sign: Signer['sign']; jws: string}
}

interface Signer {
  content: string
  sign: (token: BootstrapToken) => string
}

export interface Signatures {
  /** By the key they have in cluster-info. */
  byKey: Map<string, string>
  /** When the first of them has to go. */
  nextExpiry: Date | undefined
}

/** The signatures of all tokens over one content. Only what has changed since the last time is read and signed again. */
export class TokenSignatures {
  readonly #signerFor: SignerFor
  /** Of the Secrets of the last time, by their versions. */
  #known = new Map<string, Known>()
  #signer: Signer | undefined

  constructor(signerFor: SignerFor = detachedSigner) {
    this.#signerFor = signerFor
  }

  async over(
    content: string,
    secrets: Iterable<Secret>,
    {now, signal}: {now: Date; signal: AbortSignal},
  ): Promise<Signatures> {
    if (this.#signer?.content !== content) this.#signer = {content, sign: this.#signerFor(content)}
    const {sign} = this.#signer
    const byKey = new Map<string, string>()
    const seen = new Map<string, Known>()
    let nextExpiry: Date | undefined
    const pause = slices(signal)
    for (const secret of secrets) {
      await pause()
      const version = versionOf(secret)
      const known = this.#known.get(version) ?? read(secret, now)
      seen.set(version, known)
      const {token, expires} = known
      if (token === undefined || (expires && expires <= now) || byKey.has(jwsKey(token.id)))
        continue
      if (known.signature?.sign !== sign) known.signature = {sign, jws: sign(token)}
      byKey.set(jwsKey(token.id), known.signature.jws)
      if (expires && (!nextExpiry || expires < nextExpiry)) nextExpiry = expires
    }
    this.#known = seen
    return {byKey, nextExpiry}
  }
}

const versionOf = ({metadata: {name = '', uid = '', resourceVersion = ''}}: Secret) =>
  `${name} ${uid} ${resourceVersion}`

const read = (secret: Secret, now: Date): Known => ({
  token: signingToken(secret, now),
  expires: expirationOf(secret),
})
