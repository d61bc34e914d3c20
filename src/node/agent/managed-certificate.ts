import type {CertificateSigningRequest} from '../../api/certificates.ts'
import {nameOf} from '../../enrollment/outcome.ts'
import {pendingNote} from '../../enrollment/pending-note.ts'
import {TrustError} from '../../errors.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import type {CertificateManager} from '../certificate-manager/certificate-manager.ts'
import {tooEarly} from '../certificate-manager/server-clock.ts'
import {requireStarted} from '../certificate-manager/rotation-deadline.ts'
import {failureOf, type AgentRecord, type CertificateState} from './agent-state.ts'
import type {Duty} from './duties.ts'

export interface ManagedOptions {
  kind: 'client' | 'serving'
  manager: CertificateManager
  record: AgentRecord
  clock: Clock
  log: (line: string) => void
  /** False if a feature gate switches it off: then it is only loaded, and reported when it is due. */
  isRenewed: boolean
  /** The CAs by which the node knows its cluster, as PEM. */
  ca: () => string | undefined
  /** Called with how many seconds the old certificate lived. */
  onRotated: (seconds: number) => void
}

/** A certificate that an agent keeps valid. */
export class ManagedCertificate {
  readonly manager: CertificateManager
  readonly #options: ManagedOptions
  #renewal: Promise<void> | undefined
  /** Whether the attempt that is under way waits for a person, and whom to tell once it does. */
  #isPending = false
  #whenPending: (() => void)[] = []

  constructor(options: ManagedOptions) {
    this.#options = options
    this.manager = options.manager
  }

  get kind(): 'client' | 'serving' {
    return this.#options.kind
  }

  get duty(): Duty {
    return {
      name: `renewing the ${this.#options.kind} certificate`,
      nextAt: () => this.manager.nextAttempt,
      work: (signal) => this.renew(signal),
    }
  }

  /**
   * Reports a clock that is behind, or so far ahead that it is not used. A certificate that is not valid yet, or too early to renew, is
   * not due, so no attempt to renew it would.
   */
  get clockDuty(): Duty {
    const {kind, clock} = this.#options
    return {
      name: `checking the clock by the ${kind} certificate`,
      nextAt: () => clock.now(),
      work: () => {
        const {certificate} = this.manager.current ?? {}
        if (certificate) requireStarted(certificate, clock.now(), kind)
        const ahead = this.manager.clockAhead
        if (ahead > 0) throw tooEarly(ahead, clock.now(), kind)
        return Promise.resolve()
      },
    }
  }

  /** Follows a pair that someone else put into the folder. Returns whether there was one. */
  async load(): Promise<boolean> {
    const isRenewing = this.#renewal !== undefined
    if (!(await this.manager.load())) return false
    this.#tell('loaded')
    return !isRenewing
  }

  /** One attempt; joins the one that is under way. */
  async renew(signal: AbortSignal): Promise<void> {
    this.#renewal ??= this.#renew(signal).finally(() => {
      this.#renewal = undefined
      this.#isPending = false
      this.#whenPending = []
    })
    await this.#renewal
  }

  /** One attempt, which goes on alone once it waits for a person: whoever asked for it need not wait, too. */
  async renewUntilPending(signal: AbortSignal): Promise<void> {
    const renewal = this.renew(signal)
    const pending = this.#isPending
      ? Promise.resolve()
      : new Promise<void>((resolve) => void this.#whenPending.push(resolve))
    // If it fails later, the state says why.
    await Promise.race([renewal, pending])
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const {isRenewed, kind, clock, onRotated} = this.#options
    if (!isRenewed) throw switchedOff(kind)
    const old = this.manager.current?.certificate
    try {
      await this.manager.renew(signal)
      const at = formatTimestamp(clock.now())
      await this.#note({lastAttempt: at, lastRenewal: at, early: this.manager.early})
      if (old) onRotated((clock.now().getTime() - old.notBefore.getTime()) / 1000)
      this.#tell('renewed')
    } catch (error) {
      if (signal.aborted) throw error
      const {lastRenewal, early} = this.#state
      const lastAttempt = formatTimestamp(clock.now())
      await this.#note({lastAttempt, error: failureOf(error), lastRenewal, early})
      throw error
    }
  }

  /** Tells who has to decide on the request, and how two people can be sure that they mean the same one. */
  readonly onPending = (csr: CertificateSigningRequest): void => {
    const {kind, log, ca} = this.#options
    const attempt = this.#renewal
    const note = async () => {
      const lines = (await pendingNote(csr, {ca: ca()})).split('\n')
      // The request may have been decided on meanwhile.
      if (this.#renewal !== attempt) return
      for (const line of lines) log(`the ${kind} certificate: ${line}`)
      await this.#note({...this.#state, pendingRequest: nameOf(csr)})
      this.#isPending = true
      for (const call of this.#whenPending.splice(0)) call()
    }
    void note()
  }

  get #state(): CertificateState {
    return this.#options.record.state[this.#options.kind]
  }

  async #note(state: CertificateState): Promise<void> {
    const {kind, record} = this.#options
    await record.change((all) => ({...all, [kind]: state}))
  }

  #tell(what: string): void {
    const {kind, log} = this.#options
    const {certificate} = this.manager.current ?? {}
    if (!certificate) return
    const until = formatTimestamp(certificate.notAfter)
    log(`the ${kind} certificate was ${what}: serial ${certificate.serial}, valid until ${until}`)
  }
}

function switchedOff(kind: string): TrustError {
  return new TrustError(
    'NODE_CERTIFICATE_DUE',
    `the ${kind} certificate is not renewed: RotateKubeletClientCertificate=false switches that off`,
    {hints: ['run "trustadm node run" without that feature gate']},
  )
}
