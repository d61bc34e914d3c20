import {TrustError} from '../../errors.ts'
import type {Endpoint} from './endpoints.ts'
import {answeredFailure, EtcdFailure, GRPC, storeError} from './failure.ts'
import {failureIn, type Gateway} from './gateway.ts'
import {base64, numberOf, revisionOf, type WireEvent, type WireWatch} from './messages.ts'
import {WebSocketConnection} from './websocket.ts'

const OPEN_TIMEOUT = 3_000

export interface WatchRequest {
  /** As in a range of etcd: base64. */
  key: string
  range_end?: string
  /** Changes above this revision. */
  since: number
  /** With what was there before. */
  prev_kv?: boolean
}

export interface WatchBatch {
  /** There are no other events up to here. */
  through: number
  events: WireEvent[]
}

/** One watch of etcd at one member, until its connection ends. */
export class WatchStream {
  /** When the member last sent anything, as performance.now() tells time. */
  heardAt = performance.now()
  readonly endpoint: Endpoint
  readonly #gateway: Gateway
  readonly #connection: WebSocketConnection
  readonly #messages: AsyncGenerator<string>

  private constructor(
    gateway: Gateway,
    endpoint: Endpoint,
    connection: WebSocketConnection,
    messages: AsyncGenerator<string>,
  ) {
    this.#gateway = gateway
    this.endpoint = endpoint
    this.#connection = connection
    this.#messages = messages
  }

  /** Throws STORE_COMPACTED if changes after `since` are gone. */
  static async open(gateway: Gateway, request: WatchRequest): Promise<WatchStream> {
    const endpoint = gateway.endpoints.pick()
    try {
      const connection = await WebSocketConnection.open(endpoint, '/v3/watch', OPEN_TIMEOUT)
      const timer = setTimeout(() => connection.close(), OPEN_TIMEOUT)
      try {
        const messages = connection.messages()
        connection.send(createRequest(request))
        const first = await messages.next()
        if (first.done) throw new EtcdFailure('unsent', `${endpoint.server} does not start a watch`)
        const answer = readMessage(first.value, endpoint.server)
        gateway.learn(answer.header, endpoint.server)
        if (answer.canceled) throw canceled(answer, endpoint.server)
        await requireHistory(gateway, endpoint, request.since)
        return new WatchStream(gateway, endpoint, connection, messages)
      } catch (error) {
        connection.close()
        throw error
      } finally {
        clearTimeout(timer)
      }
    } catch (error) {
      if (!(error instanceof TrustError)) gateway.endpoints.avoid(endpoint)
      throw storeError(error)
    }
  }

  /** Asks up to which revision everything was sent. A member that is still sending older changes does not answer. */
  requestProgress(): void {
    this.#connection.send('{"progress_request":{}}')
  }

  close(): void {
    this.#connection.close()
  }

  /** Ends only by an error. */
  async *batches(): AsyncGenerator<WatchBatch> {
    let events: WireEvent[] = []
    for await (const text of this.#messages) {
      this.heardAt = performance.now()
      const answer = readMessage(text, this.endpoint.server)
      this.#gateway.learn(answer.header, this.endpoint.server)
      if (answer.canceled) throw canceled(answer, this.endpoint.server)
      if (answer.events) events = events.concat(answer.events)
      // The rest of a long answer follows; a revision may be in both parts.
      if (answer.fragment) continue
      const through =
        events.length > 0 ? numberOf(events.at(-1)?.kv.mod_revision) : revisionOf(answer)
      yield {through, events}
      events = []
    }
    throw new EtcdFailure('unknown', `${this.endpoint.server} ended the watch`)
  }
}

const createRequest = ({since, ...range}: WatchRequest): string =>
  JSON.stringify({create_request: {...range, start_revision: String(since + 1), fragment: true}})

/**
 * A watch from just below the compacted revision may miss a deletion, and does not say so. Asked after the watch has begun: what is
 * compacted later, the watch has seen.
 */
async function requireHistory(gateway: Gateway, endpoint: Endpoint, since: number): Promise<void> {
  const probe = {
    key: base64('\0'),
    // 0 would be the newest.
    revision: String(Math.max(1, since)),
    serializable: true,
    count_only: true,
  }
  try {
    await gateway.call('kv/range', probe, {endpoint})
  } catch (error) {
    const isAhead =
      error instanceof EtcdFailure &&
      error.code === GRPC.outOfRange &&
      error.message.includes('future')
    if (!isAhead) throw error
  }
}

function readMessage(text: string, server: string): WireWatch {
  let message: {result?: WireWatch; error?: unknown}
  try {
    message = JSON.parse(text) as typeof message
  } catch (error) {
    throw new EtcdFailure('unknown', `${server} does not answer as etcd does`, {cause: error})
  }
  if (message.result) return message.result
  throw answeredFailure(...failureIn(message.error ?? message, 0), server)
}

function canceled({compact_revision, cancel_reason}: WireWatch, server: string): Error {
  if (numberOf(compact_revision) > 0)
    return new TrustError('STORE_COMPACTED', 'this revision has been compacted in etcd')
  return new EtcdFailure(
    'unknown',
    `${server} ended the watch: ${cancel_reason ?? 'no reason given'}`,
  )
}
