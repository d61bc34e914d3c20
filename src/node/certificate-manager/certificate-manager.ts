import {Backoff} from '../../client/backoff.ts'
import type {WantedCertificate} from '../../enrollment/request.ts'
import {TrustError} from '../../errors.ts'
import type {Certificate} from '../../pki/certificate.ts'
import type {Clock} from '../../runtime.ts'
import {Replaceable, type Live} from '../../trust/live.ts'
import type {CredentialStore} from '../credential-store.ts'
import {askedWait, serverHealth, Wait} from '../failures.ts'
import {chooseNewer, type Pair, satisfies} from './pair.ts'
import type {ServerClock} from './server-clock.ts'
import {
  DEFAULT_WINDOW,
  drawFor,
  longestWait,
  rotationDeadline,
  validityAt,
  type RotationWindow,
} from './rotation-deadline.ts'

/** A pair from the cluster, checked. */
interface ObtainedPair {
  certificatePem: string
  keyPem: string
  /** Whether it is for the old key, which was the only way to get one: then it is renewed at once. */
  hasOldKey?: boolean
}

export interface ManagerOptions {
  store: Pick<CredentialStore, 'read' | 'requireRoom' | 'update' | 'removeExpired' | 'currentFile'>
  /** What the certificate must be for; undefined while that is not known. */
  wanted: () => WantedCertificate | undefined
  /** One attempt to get a certificate. `current` may have expired. */
  obtain: (
    wanted: WantedCertificate,
    current: Pair | undefined,
    signal: AbortSignal,
  ) => Promise<ObtainedPair>
  /** The key of the CA that signs now, as a subject key identifier; undefined if that is not known. */
  issuer?: (() => string | undefined) | undefined
  /** Over how many milliseconds renewals for a new one are spread. */
  issuerSpread?: number | undefined
  /** The pair in a kubeconfig, which is used while there is no newer one. */
  given?: Pair | undefined
  /** The fingerprint of a certificate that is renewed at once, because it was not obtained by a manager. */
  replaced?: string | undefined
  clock: Clock
  /** The server's time, for a machine whose clock is ahead. */
  serverClock?: Pick<ServerClock, 'ahead' | 'now'> | undefined
  /** The fingerprint of a certificate that seemed due by this machine's clock as soon as it was issued, as an earlier process noted it. */
  early?: string | undefined
  window?: RotationWindow | undefined
  /** Where in the window a certificate is renewed, from 0 to 1. */
  draw?: ((certificate: Certificate) => number) | undefined
  /** For the jitter between attempts. */
  random?: (() => number) | undefined
}

export interface Attempt {
  at: Date
  /** Absent if it succeeded. */
  error?: unknown
}

/** As the kubelet: 2 s, twice as long after each failure, and from the fifth on every 32 s. With jitter, unlike there. */
const BACKOFF = {base: 2000, max: 32_000}
const AT_ONCE = new Date(0)
/** In milliseconds. Agents read cluster-info at different times already. */
const ISSUER_SPREAD = 10_000

/**
 * The only place that holds a certificate of the node. It loads the pair, hands it out, knows when to renew it, and renews it. The
 * old pair is used until the new one is on the disk; whatever fails, it stays.
 */
export class CertificateManager {
  readonly #options: ManagerOptions
  readonly #live = new Replaceable<Pair | undefined>(undefined)
  readonly #backoff: Backoff
  readonly #wait: Wait
  #file: string | undefined
  #hasOldKey = false
  #early: string | undefined
  /** The CA that was last announced, and whether a certificate was requested since. */
  #announced: {key: string; at: Date; isDone: boolean} | undefined
  #lastAttempt: Attempt | undefined
  #failures = 0
  #isServerHealthy: boolean | undefined

  constructor(options: ManagerOptions) {
    this.#options = options
    this.#backoff = new Backoff({...BACKOFF, random: options.random})
    this.#wait = new Wait(options.clock)
    this.#early = options.early
  }

  /** The pair to use now. Nobody else keeps one: each new connection asks again. */
  get live(): Live<Pair | undefined> {
    return this.#live
  }

  get current(): Pair | undefined {
    return this.#live.current
  }

  get lastAttempt(): Attempt | undefined {
    return this.#lastAttempt
  }

  /** How many attempts have failed. */
  get failures(): number {
    return this.#failures
  }

  /** Whether the last attempt that reached for a server found a healthy one; undefined before the first. */
  get isServerHealthy(): boolean | undefined {
    return this.#isServerHealthy
  }

  /** Reads the store again if its pair is another one than before. Returns whether it was. Throws if it has vanished: it stays in use. */
  async load(): Promise<boolean> {
    const {store, given, clock} = this.#options
    if (this.current) {
      const file = await store.currentFile()
      if (file === this.#file) return false
      if (file === undefined) throw vanished(this.#file)
    }
    const managed = await store.read()
    this.#file = managed?.file
    const chosen = chooseNewer(managed, given, clock.now())
    if (chosen?.certificate.fingerprint === this.current?.certificate.fingerprint) return false
    this.#hasOldKey = false
    await this.#live.replace(chosen)
    return true
  }

  /** When the pair should be renewed; the epoch for at once, undefined for never. */
  get deadline(): Date | undefined {
    const {wanted: wantedNow, window = DEFAULT_WINDOW, draw = drawFor} = this.#options
    const wanted = wantedNow()
    if (!wanted) return undefined
    const {certificate} = this.current ?? {}
    const isUsable = certificate && validityAt(certificate, this.#serverNow()) !== 'expired'
    const isReplaced = certificate?.fingerprint === this.#options.replaced
    if (!isUsable || isReplaced || this.#hasOldKey || !satisfies(certificate, wanted))
      return AT_ONCE
    const deadline = rotationDeadline(certificate, window, draw(certificate))
    const replaced = this.#issuerChange(certificate, draw(certificate))
    return replaced && replaced < deadline ? replaced : deadline
  }

  /**
   * When to renew because another CA signs now: at once, but spread over some seconds, since a whole fleet learns of it. Once for each
   * CA: a signer that does not use the CA that was announced must not make this a loop.
   */
  #issuerChange(certificate: Certificate, draw: number): Date | undefined {
    const {issuer, issuerSpread = ISSUER_SPREAD} = this.#options
    const key = issuer?.()
    if (key === undefined || key === certificate.authorityKeyId) return undefined
    if (this.#announced?.key !== key) this.#announced = {key, at: this.#serverNow(), isDone: false}
    if (this.#announced.isDone) return undefined
    return new Date(this.#announced.at.getTime() + draw * issuerSpread)
  }

  /** When the next attempt is due: at the deadline, but not before the time that the last failure asks for. */
  get nextAttempt(): Date | undefined {
    const {deadline} = this
    if (!deadline) return undefined
    return new Date(Math.max(deadline.getTime() + this.#lead, this.#wait.until.getTime()))
  }

  /**
   * The fingerprint of the certificate in use, if it seemed due by this machine's clock as soon as it was issued: then it is renewed by
   * the server's clock, or one renewal would follow the other.
   */
  get early(): string | undefined {
    return this.current?.certificate.fingerprint === this.#early ? this.#early : undefined
  }

  /** How many milliseconds this machine's clock is ahead, if the certificate only seems due because of that. */
  get clockAhead(): number {
    const {deadline} = this
    const now = this.#options.clock.now()
    return deadline && deadline <= now && deadline > this.#serverNow() ? this.#lead : 0
  }

  get #lead(): number {
    return this.early === undefined ? 0 : (this.#options.serverClock?.ahead ?? 0)
  }

  #serverNow(): Date {
    const {clock, serverClock = clock} = this.#options
    return serverClock.now()
  }

  get isDue(): boolean {
    const {nextAttempt} = this
    return nextAttempt !== undefined && nextAttempt <= this.#options.clock.now()
  }

  /** Forgets how long the last failure asks to wait. */
  retryNow(): void {
    this.#wait.end()
  }

  /** One attempt, whether it is due or not. Throws why it failed; the old pair is still in use then. */
  async renew(signal: AbortSignal): Promise<void> {
    const {clock} = this.#options
    try {
      await this.#renew(signal)
      this.#lastAttempt = {at: clock.now()}
    } catch (error) {
      if (signal.aborted) throw error
      this.#lastAttempt = {at: clock.now(), error}
      this.#failures += 1
      this.#isServerHealthy = serverHealth(error) ?? this.#isServerHealthy
      this.#waitAfter(error)
      throw error
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const {store, wanted: wantedNow, obtain, clock} = this.#options
    const wanted = wantedNow()
    if (!wanted) throw new TrustError('INTERNAL', 'it is not known what to request')
    await store.requireRoom()
    const {certificatePem, keyPem, hasOldKey = false} = await obtain(wanted, this.current, signal)
    this.#isServerHealthy = true
    signal.throwIfAborted()
    await store.update(certificatePem, keyPem, clock.now())
    await this.load()
    if (this.#announced) this.#announced.isDone = true
    this.#hasOldKey = hasOldKey
    // The new pair is in use already: an old one that cannot be removed does no harm.
    await store.removeExpired(clock.now()).catch(() => undefined)
    const {deadline, current} = this
    const seemsDue = current && deadline && deadline <= clock.now() && !hasOldKey
    if (seemsDue && deadline > this.#serverNow()) this.#early = current.certificate.fingerprint
    else if (seemsDue) {
      // A signer of very short certificates must make this neither a tight loop nor too late.
      const longest = longestWait(current.certificate, clock.now())
      return this.#wait.start(Math.min(this.#backoff.next(), longest))
    }
    this.#backoff.reset()
    this.#wait.end()
  }

  #waitAfter(error: unknown): void {
    const longest = longestWait(this.current?.certificate, this.#options.clock.now())
    this.#wait.start(Math.max(this.#backoff.next(), Math.min(askedWait(error), longest)))
  }
}

function vanished(file = ''): TrustError {
  return new TrustError(
    'FILE_UNREADABLE',
    `the link to ${file} has vanished; the certificate that was read from there stays in use`,
    {hints: ['the next renewal writes a new link; "trustadm node renew" does it at once']},
  )
}
