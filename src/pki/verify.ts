import {parseCertificateDer, publicKeyOf, type Certificate} from './certificate.ts'
import {isSignedBySync} from './signatures.ts'
import type {ExtendedKeyUsage} from './usages.ts'

/** A chain that holds, with the time within which it does; or why there is none. */
export type ChainVerdict =
  {ok: true; chain: Certificate[]; notBefore: Date; notAfter: Date} | {ok: false; reason: string}

export interface ChainOptions {
  /** What the peer sent beside its certificate: not trusted, only of help. */
  intermediates?: readonly Certificate[]
  roots: readonly Certificate[]
  usage: ExtendedKeyUsage
  now: Date
}

/** Bounds on work that a peer can cause; Go has bounds of the same kind. */
const LONGEST_CHAIN = 8
const MOST_SIGNATURES = 32
const MOST_INTERMEDIATES = 16

function timeProblem({notBefore, notAfter}: Certificate, now: Date): string | undefined {
  if (now < notBefore) return `it is not valid before ${notBefore.toISOString()}`
  if (now > notAfter) return `it has expired on ${notAfter.toISOString()}`
  return undefined
}

function usageProblem({extendedKeyUsages}: Certificate, usage: string): string | undefined {
  if (!extendedKeyUsages || extendedKeyUsages.some((one) => one === usage || one === 'any'))
    return undefined
  return `it is not meant for "${usage}"`
}

/** Whether `certificate` may stand in a chain at all, as a leaf or above one. */
function ownProblem(certificate: Certificate, {usage, now}: ChainOptions): string | undefined {
  const [notUnderstood] = certificate.notUnderstood
  if (notUnderstood !== undefined) return `its extension ${notUnderstood} is not supported`
  return timeProblem(certificate, now) ?? usageProblem(certificate, usage)
}

/** Whether `authority` may stand above `below` other CAs and a leaf. */
function authorityProblem(authority: Certificate, below: number): string | undefined {
  if (!authority.isAuthority) return 'its issuer is not a CA'
  if (authority.keyUsages && !authority.keyUsages.includes('cert sign')) {
    return 'its issuer may not sign certificates'
  }
  if (authority.pathLength !== undefined && below > authority.pathLength) {
    return 'its chain is longer than a CA allows'
  }
  return undefined
}

/** False too where the authority's key is of a kind that OpenSSL does not know. */
function isSignedByCertificate(certificate: Certificate, authority: Certificate): boolean {
  try {
    return isSignedBySync(certificate.signed, publicKeyOf(authority))
  } catch {
    return false
  }
}

/** Looks for a chain from the last certificate up to a root; rotated CAs share a name, so each candidate is tried. */
class ChainSearch {
  readonly #options: ChainOptions
  #signatures = 0
  reason = 'it is signed by an unknown authority'

  constructor(options: ChainOptions) {
    this.#options = options
  }

  extend(chain: Certificate[]): Certificate[] | undefined {
    const last = chain[chain.length - 1]
    if (!last || chain.length > LONGEST_CHAIN) return undefined
    const {roots, intermediates = []} = this.#options
    const root = roots.find((candidate) => this.#isAbove(candidate, last, chain))
    if (root) return [...chain, root]

    for (const candidate of intermediates.slice(0, MOST_INTERMEDIATES)) {
      const isNew = chain.every(({fingerprint}) => fingerprint !== candidate.fingerprint)
      if (!isNew || !this.#isAbove(candidate, last, chain)) continue
      const found = this.extend([...chain, candidate])
      if (found) return found
    }
    return undefined
  }

  #isAbove(candidate: Certificate, last: Certificate, chain: Certificate[]): boolean {
    if (!candidate.subject.der.equals(last.issuer.der)) return false
    const problem =
      authorityProblem(candidate, chain.length - 1) ?? ownProblem(candidate, this.#options)
    if (problem !== undefined) {
      this.reason = `its CA cannot be used: ${problem}`
      return false
    }
    this.#signatures += 1
    if (this.#signatures > MOST_SIGNATURES) return false
    return isSignedByCertificate(last, candidate)
  }
}

/**
 * Whether the certificate chains up to one of the roots for the usage, as Go's `Verify`: every certificate of the chain
 * must be valid now, allow the usage, and hold no critical extension that is not understood. Name constraints are not
 * supported: a chain that has them is refused.
 */
export function verifyChain(leaf: Certificate, options: ChainOptions): ChainVerdict {
  const problem = ownProblem(leaf, options)
  if (problem !== undefined) return {ok: false, reason: problem}
  const search = new ChainSearch(options)
  const chain = search.extend([leaf])
  if (!chain) return {ok: false, reason: search.reason}
  return {
    ok: true,
    chain,
    notBefore: new Date(Math.max(...chain.map(({notBefore}) => notBefore.getTime()))),
    notAfter: new Date(Math.min(...chain.map(({notAfter}) => notAfter.getTime()))),
  }
}

/** Reads what a peer presented; what cannot be read is left out, and then cannot be of help. */
export function readPresented(ders: readonly Uint8Array[]): Certificate[] {
  return ders.slice(0, MOST_INTERMEDIATES).flatMap((der) => {
    try {
      return [parseCertificateDer(der)]
    } catch {
      return []
    }
  })
}
