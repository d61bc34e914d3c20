import type {Segment} from './check-watches.ts'
import type {Server} from './server.ts'
import {watchInTurn} from './watch-in-turn.ts'
import {NAMESPACE, stateOf} from './writers.ts'

/** Follows all keys; after each cut it goes on where it was, at the next of its servers. */
export class Watcher {
  readonly name: string
  readonly segments: Segment[] = []
  /** How often a server said that it cannot go on, so that everything had to be listed again. */
  breaks = 0
  #segment: Segment
  readonly #servers: readonly Server[]
  /** How long one watch lasts. */
  readonly #seconds: number

  constructor(name: string, servers: readonly Server[], from: number, seconds: number) {
    this.name = name
    this.#servers = servers
    this.#seconds = seconds
    this.#segment = this.#begin(from)
  }

  get position(): number {
    return this.#segment.to
  }

  #begin(from: number): Segment {
    this.#segment = {watcher: this.name, from, to: from, events: []}
    this.segments.push(this.#segment)
    return this.#segment
  }

  async follow(signal: AbortSignal): Promise<void> {
    await watchInTurn(
      this.#servers,
      signal,
      (server) => this.#watch(server, signal),
      (server) => this.#list(server, signal).catch(() => undefined),
    )
  }

  async #watch({admin}: Server, signal: AbortSignal): Promise<void> {
    const events = admin.configMaps.watch({
      namespace: NAMESPACE,
      resourceVersion: String(this.position),
      bookmarks: true,
      timeoutSeconds: this.#seconds,
      signal,
    })
    for await (const {type, object} of events) {
      const {revision, value} = stateOf(object)
      const key = object.metadata.name ?? ''
      if (type !== 'BOOKMARK') this.#segment.events.push({revision, key, type, value})
      this.#segment.to = Math.max(this.#segment.to, revision)
    }
  }

  async #list({admin}: Server, signal: AbortSignal): Promise<void> {
    const {metadata} = await admin.configMaps.list({namespace: NAMESPACE, signal})
    this.breaks++
    this.#begin(Number(metadata.resourceVersion))
  }
}
