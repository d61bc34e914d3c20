import type {Clock} from '../runtime.ts'
import {Replaceable, type Live, type Subscriber} from '../trust/live.ts'
import type {ExecConfig} from './exec-config.ts'
import {parseCredential, type PluginCredential} from './exec-credential.ts'
import {runPlugin, type PluginOptions} from './exec-program.ts'
import type {ServerAccess} from './server-access.ts'

/** Whatever its expiration and this machine's clock say, what was just obtained is used. */
const SHORTEST_USE = 5000

/**
 * An access whose credentials come from a program, as client-go uses it: it is run before the first request, again once what it
 * returned has expired, and again after the server has refused it. A new certificate gets new connections.
 */
export class ExecAccess implements Live<ServerAccess> {
  readonly #access: Replaceable<ServerAccess>
  readonly #config: ExecConfig
  readonly #clock: Clock
  readonly #options: PluginOptions
  readonly #stop = new AbortController()
  /** A certificate in the kubeconfig itself wins over that of the program. */
  readonly #hasCertificate: boolean
  #credential: PluginCredential | undefined
  #usableUntil = -Infinity
  #running: Promise<PluginCredential> | undefined

  constructor(
    access: ServerAccess,
    config: ExecConfig,
    {clock, ...options}: PluginOptions & {clock: Clock},
  ) {
    this.#config = config
    this.#clock = clock
    this.#options = options
    this.#hasCertificate = access.clientCertificate !== undefined
    this.#access = new Replaceable<ServerAccess>({
      ...access,
      bearerToken: async () => (await this.#current()).token,
      renewCredential: (used) => this.#renew(used),
    })
  }

  get current(): ServerAccess {
    return this.#access.current
  }

  subscribe(changed: Subscriber<ServerAccess>): () => void {
    return this.#access.subscribe(changed)
  }

  /** Ends the program, if it runs. */
  close(): void {
    this.#stop.abort(new Error('the client was closed'))
  }

  async #current(): Promise<PluginCredential> {
    const isCurrent = this.#clock.now().getTime() < this.#usableUntil
    return this.#credential && isCurrent ? this.#credential : await this.#run()
  }

  /** False if the program returned the same again: then there is no point in asking the server again. */
  async #renew(used: string | undefined): Promise<boolean> {
    const old = this.#credential
    // Another request has already led to a new one.
    if (old && old.token !== used) return true
    const next = await this.#run()
    const [before, after] = [old?.certificate?.certificate, next.certificate?.certificate]
    return next.token !== old?.token || before !== after
  }

  /** Requests that need it at the same time share one run. */
  #run(): Promise<PluginCredential> {
    this.#running ??= this.#obtain().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #obtain(): Promise<PluginCredential> {
    const {signal} = this.#stop
    const text = await runPlugin(this.#config, {...this.#options, signal})
    const credential = parseCredential(text, this.#config)
    this.#credential = credential
    const now = this.#clock.now().getTime()
    this.#usableUntil = Math.max(credential.expires?.getTime() ?? Infinity, now + SHORTEST_USE)
    const {current} = this.#access
    const {certificate} = credential
    const isNew = certificate?.certificate !== current.clientCertificate?.certificate
    if (isNew && !this.#hasCertificate) {
      await this.#access.replace({...current, clientCertificate: certificate})
    }
    return credential
  }
}
