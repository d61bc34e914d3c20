import {parseCertificateDer, publicKeyOf, type Certificate} from './certificate.ts'
import {isSignedBy, isSignedBySync} from './signatures.ts'
import type {ExtendedKeyUsage} from './usages.ts'
import {formatTimestamp} from '../runtime.ts'

/** A valid chain with its period of validity; or why there is none. */
export type ChainVerdict =
  {ok: true; chain: Certificate[]; notBefore: Date; notAfter: Date} | {ok: false; reason: string}

export interface ChainOptions {
  /** The other certificates that the peer sent: not trusted, only used to build a chain. */
  intermediates?: readonly Certificate[]
  roots: readonly Certificate[]
  usage: ExtendedKeyUsage
  now: Date
}

/** Limits on the work that a peer can cause; Go has similar ones. */
const LONGEST_CHAIN = 8
const MOST_SIGNATURES = 32
const MOST_INTERMEDIATES = 16

function timeProblem({notBefore, notAfter}: Certificate, now: Date): string | undefined {
  if (now < notBefore) return `it is not valid before ${formatTimestamp(notBefore)}`
  if (now > notAfter) return `it expired on ${formatTimestamp(notAfter)}`
  return undefined
}

function usageProblem({extendedKeyUsages}: Certificate, usage: string): string | undefined {
  if (!extendedKeyUsages || extendedKeyUsages.some((one) => one === usage || one === 'any'))
    return undefined
  return `it is not meant for "${usage}"`
}

/** Whether `certificate` may be in a chain, as a leaf or above one. */
function ownProblem(certificate: Certificate, {usage, now}: ChainOptions): string | undefined {
  const [notUnderstood] = certificate.notUnderstood
  if (notUnderstood !== undefined) return `its extension ${notUnderstood} is not supported`
  return timeProblem(certificate, now) ?? usageProblem(certificate, usage)
}

/** Whether `authority` may sign certificates now. */
function authorityProblem(authority: Certificate, options: ChainOptions): string | undefined {
  if (!authority.isAuthority) return 'its issuer is not a CA'
  if (authority.keyUsages && !authority.keyUsages.includes('cert sign')) {
    return 'its issuer may not sign certificates'
  }
  return ownProblem(authority, options)
}

interface SignatureCheck {
  certificate: Certificate
  authority: Certificate
}

/**
 * Searches for a chain from a root down to the leaf, so that signatures are only checked with keys that are already trusted,
 * never with a key that an attacker chose. Rotated CAs share a name, so each candidate is tried. The caller checks the
 * signatures, synchronously or on the thread pool.
 */
class ChainSearch {
  readonly #options: ChainOptions
  readonly #intermediates: readonly Certificate[]
  #signatures = 0
  reason = 'it is signed by an unknown authority'

  constructor(options: ChainOptions) {
    this.#options = options
    this.#intermediates = options.intermediates?.slice(0, MOST_INTERMEDIATES) ?? []
  }

  *find(leaf: Certificate): Generator<SignatureCheck, Certificate[] | undefined, boolean> {
    for (const root of this.#options.roots) {
      const path = yield* this.#below([root], leaf)
      if (path) return [leaf, ...path.reverse()]
    }
    return undefined
  }

  /** The path from a root to the leaf's issuer that starts with these, each of which has signed the next. */
  *#below(
    path: Certificate[],
    leaf: Certificate,
  ): Generator<SignatureCheck, Certificate[] | undefined, boolean> {
    const authority = path[path.length - 1]
    if (!authority) return undefined
    if (yield* this.#hasSigned(authority, leaf)) return path
    if (path.length >= LONGEST_CHAIN) return undefined
    for (const next of this.#intermediates) {
      const isNew = path.every(({fingerprint}) => fingerprint !== next.fingerprint)
      if (!isNew || !isNamedBy(authority, next) || !this.#mayFollow(path)) continue
      if (!(yield* this.#hasSigned(authority, next))) continue
      const found = yield* this.#below([...path, next], leaf)
      if (found) return found
    }
    return undefined
  }

  *#hasSigned(
    authority: Certificate,
    certificate: Certificate,
  ): Generator<SignatureCheck, boolean, boolean> {
    if (!isNamedBy(authority, certificate)) return false
    const problem = authorityProblem(authority, this.#options)
    if (problem !== undefined) return this.#refuse(problem)
    this.#signatures += 1
    return this.#signatures <= MOST_SIGNATURES && (yield {certificate, authority})
  }

  /** Whether one more CA may follow those of the path. */
  #mayFollow(path: readonly Certificate[]): boolean {
    const allows = path.every(
      ({pathLength}, index) => pathLength === undefined || path.length - index <= pathLength,
    )
    return allows || this.#refuse('its chain is longer than a CA allows')
  }

  #refuse(problem: string): false {
    this.reason = `its CA cannot be used: ${problem}`
    return false
  }
}

const isNamedBy = (authority: Certificate, {issuer}: Certificate) =>
  authority.subject.der.equals(issuer.der)

/** Also false if OpenSSL does not support the authority's key. */
function isSignedHere({certificate, authority}: SignatureCheck): boolean {
  try {
    return isSignedBySync(certificate.signed, publicKeyOf(authority))
  } catch {
    return false
  }
}

async function isSignedOnPool({certificate, authority}: SignatureCheck): Promise<boolean> {
  try {
    return await isSignedBy(certificate.signed, publicKeyOf(authority))
  } catch {
    return false
  }
}

function* judge(
  leaf: Certificate,
  options: ChainOptions,
): Generator<SignatureCheck, ChainVerdict, boolean> {
  const problem = ownProblem(leaf, options)
  if (problem !== undefined) return {ok: false, reason: problem}
  const search = new ChainSearch(options)
  const chain = yield* search.find(leaf)
  if (!chain) return {ok: false, reason: search.reason}
  return {
    ok: true,
    chain,
    notBefore: new Date(Math.max(...chain.map(({notBefore}) => notBefore.getTime()))),
    notAfter: new Date(Math.min(...chain.map(({notAfter}) => notAfter.getTime()))),
  }
}

/**
 * Whether the certificate chains up to one of the roots for the usage, as Go's `Verify`: every certificate of the chain
 * must be valid now, allow the usage, and have no unsupported critical extension. Name constraints are not
 * supported: a chain that has them is refused.
 */
export function verifyChain(leaf: Certificate, options: ChainOptions): ChainVerdict {
  const steps = judge(leaf, options)
  let step = steps.next()
  while (step.done !== true) step = steps.next(isSignedHere(step.value))
  return step.value
}

/** The same with the signatures checked on the thread pool, so that a server does not block its other callers. */
export async function verifyChainOnPool(
  leaf: Certificate,
  options: ChainOptions,
): Promise<ChainVerdict> {
  const steps = judge(leaf, options)
  let step = steps.next()
  while (step.done !== true) step = steps.next(await isSignedOnPool(step.value))
  return step.value
}

/** Reads the certificates that a peer presented, without unreadable ones. */
export function readPresented(ders: readonly Uint8Array[]): Certificate[] {
  return ders.slice(0, MOST_INTERMEDIATES).flatMap((der) => {
    try {
      return [parseCertificateDer(der)]
    } catch {
      return []
    }
  })
}
