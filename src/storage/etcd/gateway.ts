import {setMaxListeners} from 'node:events'
import {setImmediate as nextTurn} from 'node:timers/promises'
import {sleep} from '../../runtime.ts'
import {closedError} from '../feed.ts'
import type {Endpoint, Endpoints} from './endpoints.ts'
import {answeredFailure, connectionFailure, EtcdFailure, OtherCluster} from './failure.ts'
import {revisionOf, type WireHeader} from './messages.ts'

/** For one attempt at one member. */
const ATTEMPT = 3_000
/** For a request with all its attempts. */
const PATIENCE = 12_000
const PAUSE = 50
/** Far more than any single entry: a list that is longer is asked for in smaller pages. */
const LONGEST_ANSWER = 64 * 1_024 * 1_024

interface CallOptions {
  /** The request changes something: after an attempt with an unknown result it is not sent again. */
  once?: boolean
  /** When to give up, as performance.now() tells time. */
  deadline?: number
  /** Only this member is asked. */
  endpoint?: Endpoint
}

type Asking = (tooMuch: number) => object

/** A member took too long: it may be away, or what it was asked for is too much. */
class TimedOut extends EtcdFailure {}

/** What a member sends is longer than anybody wants to keep in memory. */
class TooMuch extends EtcdFailure {}

/** An attempt that had less time than others, because the request as a whole has to end. */
class CutShort extends EtcdFailure {}

/** It says less than the failure before it. */
const explained = (failure: EtcdFailure, before: EtcdFailure | undefined): EtcdFailure =>
  failure instanceof CutShort && before
    ? new EtcdFailure(failure.kind, before.message, {
        cause: before,
        isDistrust: before.isDistrust,
      })
    : failure

/** Requests over etcd's JSON gateway, to whichever member responds. */
export class Gateway {
  readonly endpoints: Endpoints
  readonly #patience: number
  readonly #limits: {attempt: number; answer: number}
  readonly #closing = new AbortController()
  #clusterId: string | undefined
  /** The cluster of each member that has answered, by its address. */
  readonly #clusters = new Map<string, string>()
  #seen = 0

  constructor(
    endpoints: Endpoints,
    patience = PATIENCE,
    limits = {attempt: ATTEMPT, answer: LONGEST_ANSWER},
  ) {
    this.endpoints = endpoints
    this.#patience = patience
    this.#limits = limits
    // Each request that waits for another attempt listens.
    setMaxListeners(0, this.#closing.signal)
  }

  /** When a request that begins now has to end, as performance.now() tells time. */
  get deadline(): number {
    return performance.now() + this.#patience
  }

  /** The newest revision that any answer has named. */
  get seen(): number {
    return this.#seen
  }

  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /** `body` may depend on how many attempts may have failed because too much was asked for. */
  async call<T extends {header?: WireHeader}>(
    path: string,
    body: object | Asking,
    {once = false, deadline = this.deadline, endpoint}: CallOptions = {},
  ): Promise<T> {
    let before: EtcdFailure | undefined
    let tooMuch = 0
    for (let attempt = 1; ; attempt++) {
      const member = endpoint ?? this.endpoints.pick()
      try {
        const asked = body instanceof Function ? body(tooMuch) : body
        return await this.#attempt<T>(member, path, asked, deadline)
      } catch (error) {
        if (!(error instanceof EtcdFailure)) throw error
        if (error.kind === 'refused' || endpoint) throw error
        if (!(error instanceof TooMuch)) this.endpoints.avoid(member)
        const isOver = performance.now() + PAUSE >= deadline
        if (once && error.kind === 'unknown') throw error
        if (isOver) throw explained(error, before)
        before = error
        if (error instanceof TooMuch || error instanceof TimedOut) tooMuch += 1
        // A member that is there may know better at once; after all of them, wait.
        if (attempt % this.endpoints.count === 0) await this.pause(PAUSE)
      }
    }
  }

  /** Waits, and throws if the store is closed meanwhile. */
  async pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, this.#closing.signal)
  }

  /** Learns from the header of any answer; throws if it is of another cluster than those before. */
  learn(header: WireHeader | undefined, server: string): void {
    const cluster = header?.cluster_id
    if (cluster !== undefined) {
      this.#clusterId ??= cluster
      this.#clusters.set(server, cluster)
      if (cluster !== this.#clusterId) throw new OtherCluster('unsent', this.describeClusters())
    }
    this.#seen = Math.max(this.#seen, revisionOf(header ? {header} : {}))
  }

  /** Who belongs together, of the members that have answered. Which cluster is known first depends on who answers first. */
  describeClusters(): string {
    const groups = new Map<string, string[]>()
    for (const [server, cluster] of [...this.#clusters].sort())
      groups.set(cluster, [...(groups.get(cluster) ?? []), server])
    const described = [...groups.values()].map((servers) => servers.join(', ')).join(' / ')
    return groups.size > 1
      ? `the members belong to different etcd clusters: ${described}`
      : `${described}: the etcd cluster is another one than before`
  }

  async close(): Promise<void> {
    this.#closing.abort(closedError())
    await this.endpoints.destroy()
  }

  async #attempt<T extends {header?: WireHeader}>(
    endpoint: Endpoint,
    path: string,
    body: object,
    deadline: number,
  ): Promise<T> {
    const {server} = endpoint
    this.#closing.signal.throwIfAborted()
    const timeout = Math.max(1, Math.min(this.#limits.attempt, deadline - performance.now()))
    const expiry = new AbortController()
    const timer = setTimeout(() => {
      const Failure = timeout < this.#limits.attempt ? CutShort : TimedOut
      expiry.abort(new Failure('unknown', `${server} did not respond in time`))
    }, timeout)
    try {
      const {statusCode, body: stream} = await endpoint.requests.request({
        method: 'POST',
        path: `/v3/${path}`,
        headers: {'content-type': 'application/json'},
        body: JSON.stringify(body),
        signal: expiry.signal,
      })
      const answer = parse(await readWhole(stream, this.#limits.answer, server), server)
      if (statusCode !== 200) throw answeredFailure(...failureIn(answer, statusCode), server)
      this.learn((answer as T).header, server)
      return answer as T
    } catch (error) {
      this.#closing.signal.throwIfAborted()
      throw expiry.signal.aborted
        ? (expiry.signal.reason as EtcdFailure)
        : connectionFailure(error, server)
    } finally {
      clearTimeout(timer)
    }
  }
}

async function readWhole(
  stream: AsyncIterable<Buffer>,
  longest: number,
  server: string,
): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > longest) throw new TooMuch('unknown', `${server} sent too much`)
    chunks.push(chunk)
  }
  // undici counts a connection as free one tick later.
  await nextTurn()
  return Buffer.concat(chunks, size).toString()
}

function parse(text: string, server: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new EtcdFailure('unknown', `${server} does not answer as etcd does`, {cause: error})
  }
}

/** The form differs between the versions of etcd. */
export function failureIn(answer: unknown, status: number): [code: number, message: string] {
  const {code, grpc_code, message, error} = (answer ?? {}) as {
    code?: number
    grpc_code?: number
    message?: string
    error?: string
  }
  return [code ?? grpc_code ?? 0, message ?? error ?? `status ${status}`]
}
