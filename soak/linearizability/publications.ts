import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import {soleCertificateIn} from '../../src/csr/read-request.ts'
import type {Published} from './check-certificates.ts'
import type {Server} from './server.ts'
import {watchInTurn} from './watch-in-turn.ts'

/** How long one watch lasts before it moves to the next server. */
const SECONDS = 10

/** Every certificate that a request has ever had, as a watch saw it that moves from server to server. */
export class Publications {
  readonly #servers: readonly Server[]
  readonly #seen = new Map<string, Published>()
  #position: string | undefined

  constructor(servers: readonly Server[]) {
    this.#servers = servers
  }

  get published(): Published[] {
    return [...this.#seen.values()]
  }

  async follow(signal: AbortSignal): Promise<void> {
    await watchInTurn(
      this.#servers,
      signal,
      (server) => this.#watch(server, signal),
      () => {
        this.#position = undefined
      },
    )
  }

  async #watch({admin}: Server, signal: AbortSignal): Promise<void> {
    this.#position ??= await this.read(admin, signal)
    const events = admin.csrs.watch({
      resourceVersion: this.#position,
      bookmarks: true,
      timeoutSeconds: SECONDS,
      signal,
    })
    for await (const {type, object} of events) {
      this.#position = object.metadata.resourceVersion ?? this.#position
      if (type !== 'BOOKMARK') this.#note(object)
    }
  }

  /** All requests as they are now; gives their revision. */
  async read({csrs}: Server['admin'], signal?: AbortSignal): Promise<string> {
    const {items, metadata} = await csrs.list({...(signal && {signal})})
    for (const csr of items) this.#note(csr)
    return metadata.resourceVersion ?? ''
  }

  #note({metadata: {uid = ''}, status}: CertificateSigningRequest): void {
    if (!status?.certificate) return
    const {fingerprint} = soleCertificateIn(status.certificate)
    this.#seen.set(`${uid} ${fingerprint}`, {uid, fingerprint})
  }
}
