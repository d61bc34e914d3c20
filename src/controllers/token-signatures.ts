import type {Secret} from '../api/core.ts'
import {jwsKey} from '../bootstrap/cluster-info.ts'
import {signDetached} from '../bootstrap/jws.ts'
import {expirationOf, signingToken} from '../bootstrap/read-token-secret.ts'
import type {BootstrapToken} from '../bootstrap/token.ts'
import {slices} from './kernel/costly-work.ts'

/** Enough to keep the thread pool busy; more would delay everything else. */
const SIGNED_AT_ONCE = 16

export type SignContent = (content: string, token: BootstrapToken) => Promise<string>

/** A token that may sign, as read from one version of its Secret. */
interface Signer {
  token: BootstrapToken
  expires: Date | undefined
  signature?: {content: string; jws: string}
}

export interface Signatures {
  /** By their key in cluster-info. */
  byKey: Map<string, string>
  /** When the first of them expires. */
  nextExpiry: Date | undefined
}

/** The signatures of all tokens over one content. Only what has changed since the last call is parsed and signed again. */
export class TokenSignatures {
  readonly #sign: SignContent
  /** The tokens of the last call, by version of their Secrets; undefined for those that may not sign. */
  #signers = new Map<string, Signer | undefined>()

  constructor(sign: SignContent = signDetached) {
    this.#sign = sign
  }

  async over(
    content: string,
    secrets: Iterable<Secret>,
    {now, signal}: {now: Date; signal: AbortSignal},
  ): Promise<Signatures> {
    const read = new Map<string, Signer | undefined>()
    const current = new Map<string, Signer>()
    let nextExpiry: Date | undefined
    const pause = slices(signal)
    for (const secret of secrets) {
      await pause()
      const version = versionOf(secret)
      const signer = this.#signers.has(version)
        ? this.#signers.get(version)
        : readSigner(secret, now)
      read.set(version, signer)
      if (signer === undefined) continue
      const {token, expires} = signer
      if ((expires && expires <= now) || current.has(jwsKey(token.id))) continue
      current.set(jwsKey(token.id), signer)
      if (expires && (!nextExpiry || expires < nextExpiry)) nextExpiry = expires
    }
    this.#signers = read
    return {byKey: await this.#signaturesBy(current, content, signal), nextExpiry}
  }

  async #signaturesBy(signers: Map<string, Signer>, content: string, signal: AbortSignal) {
    const byKey = new Map<string, string>()
    const entries = [...signers]
    while (entries.length > 0) {
      signal.throwIfAborted()
      const batch = entries.splice(0, SIGNED_AT_ONCE).map(async ([key, signer]) => {
        byKey.set(key, await this.#signatureBy(signer, content))
      })
      await Promise.all(batch)
    }
    return byKey
  }

  async #signatureBy(signer: Signer, content: string): Promise<string> {
    if (signer.signature?.content !== content) {
      signer.signature = {content, jws: await this.#sign(content, signer.token)}
    }
    return signer.signature.jws
  }
}

const versionOf = ({metadata: {name = '', uid = '', resourceVersion = ''}}: Secret) =>
  `${name} ${uid} ${resourceVersion}`

function readSigner(secret: Secret, now: Date): Signer | undefined {
  const token = signingToken(secret, now)
  return token && {token, expires: expirationOf(secret)}
}
