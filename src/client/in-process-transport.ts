import {setMaxListeners} from 'node:events'
import type {UserInfo} from '../api/meta.ts'
import {AbortableSteps, Cancellation, untilAborted} from './cancellation.ts'
import type {
  InProcessHandler,
  InProcessRequest,
  InProcessResponse,
  ObjectRequest,
  ObjectTransport,
  Transport,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from './transport.ts'

/** One for all: an error of its own for each request that has ended would cost more than the request. */
const CLOSED = new Error('the answer was closed')

/** Calls the server in the same process as a given user: RBAC and admission apply as they do over a socket. */
export class InProcessTransport implements Transport {
  readonly #handler: InProcessHandler
  readonly #caller: UserInfo
  readonly #serverCertificate: () => Uint8Array | undefined
  readonly #closing = new AbortController()

  /** `serverCertificate`: what callers over a socket know this server by, as DER. */
  constructor(
    handler: InProcessHandler,
    caller: UserInfo,
    serverCertificate: () => Uint8Array | undefined = () => undefined,
  ) {
    this.#handler = handler
    this.#caller = caller
    this.#serverCertificate = serverCertificate
    // Every request in flight listens: many of them are no leak that Node should warn of.
    setMaxListeners(Infinity, this.#closing.signal)
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const {cancellation, release} = this.#begin(request)
    try {
      const {status, headers, body} = await this.#answer(request, cancellation.signal)
      return {status, headers: lowerCased(headers), body: await wholeOf(body, cancellation.signal)}
    } finally {
      release()
    }
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    const {cancellation, release} = this.#begin(request)
    const {signal} = cancellation
    const close = () => {
      release()
      cancellation.cancel(CLOSED)
    }
    try {
      const work = this.#handler(this.#passing(request, signal))
      const {status, headers, body, events} = await untilAborted(work, signal)
      return {
        status,
        headers: lowerCased(headers),
        body: chunksOf(body, signal, close),
        ...(events && {events: untilClosed(events, signal, close)}),
        close,
      }
    } catch (error) {
      close()
      throw error
    }
  }

  /** A call cannot be cut short: if its signal is aborted, it fails when the server has finished. */
  readonly objects: ObjectTransport = {
    call: async (request) => {
      const {signal = this.#closing.signal} = request
      this.#closing.signal.throwIfAborted()
      const {status, headers, value, body} = await this.#handler(this.#passing(request, signal))
      signal.throwIfAborted()
      return {
        status,
        headers: isPlain(status, headers) ? NO_HEADERS : lowerCased(headers),
        // Not to wait for what is there.
        value: value ?? (await readValue(body, signal)),
      }
    },
  }

  #passing(request: ObjectRequest, signal: AbortSignal): InProcessRequest {
    const passed = toInProcess(request, this.#caller, signal)
    passed.takesObjects = true
    passed.object = request.object
    return passed
  }

  #begin({signal}: Pick<TransportRequest, 'signal'>): {
    cancellation: Cancellation
    release: () => void
  } {
    this.#closing.signal.throwIfAborted()
    const cancellation = new Cancellation(signal)
    const closeWithClient = () => cancellation.cancel(this.#closing.signal.reason)
    this.#closing.signal.addEventListener('abort', closeWithClient, {once: true})
    const release = () => {
      this.#closing.signal.removeEventListener('abort', closeWithClient)
      cancellation.release()
    }
    return {cancellation, release}
  }

  #answer(request: TransportRequest, signal: AbortSignal): Promise<InProcessResponse> {
    return untilAborted(this.#handler(toInProcess(request, this.#caller, signal)), signal)
  }

  serverCertificate(): Uint8Array | undefined {
    return this.#serverCertificate()
  }

  close(): Promise<void> {
    this.#closing.abort()
    return Promise.resolve()
  }
}

const NO_BODY = new Uint8Array()
const NO_HEADERS: Readonly<Record<string, string>> = {}

/** All requests have one shape: V8 handles that much faster than copies of many shapes. */
function toInProcess(
  request: TransportRequest,
  caller: UserInfo,
  signal: AbortSignal,
): InProcessRequest {
  const {headers, rawHeaders} = sentHeaders(request.headers ?? NO_HEADERS)
  return {
    method: request.method,
    path: request.path,
    query: request.query ?? new URLSearchParams(),
    headers,
    rawHeaders,
    body: request.body ?? NO_BODY,
    remoteAddress: '127.0.0.1',
    signal,
    caller,
    takesObjects: false,
    object: undefined,
  }
}

type SentHeaders = Pick<InProcessRequest, 'headers' | 'rawHeaders'>

/** A client sends the same headers again and again. */
const sent = new WeakMap<object, SentHeaders>()

/** Headers as a server gets them. */
function sentHeaders(given: Record<string, string | string[]>): SentHeaders {
  const known = sent.get(given)
  if (known !== undefined) return known
  const pairs = Object.entries(given).map(([name, value]) => ({
    name: name.toLowerCase(),
    values: Array.isArray(value) ? value : [value],
  }))
  const made = {
    headers: Object.fromEntries(pairs.map(({name, values}) => [name, values.join(', ')])),
    rawHeaders: pairs.flatMap(({name, values}) => values.flatMap((value) => [name, value])),
  }
  sent.set(given, made)
  return made
}

/** Whether nothing in the headers concerns a caller in the same process. */
const isPlain = (status: number, headers: InProcessResponse['headers']) =>
  status < 300 && headers.Warning === undefined

function lowerCased(headers: InProcessResponse['headers']): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
}

/** What the server's text says. */
async function readValue(body: InProcessResponse['body'], signal: AbortSignal): Promise<unknown> {
  try {
    return JSON.parse((await wholeOf(body, signal)).toString()) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

async function* untilClosed<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal,
  close: () => void,
): AsyncGenerator<T> {
  const steps = new AbortableSteps(signal)
  try {
    const iterator = items[Symbol.asyncIterator]()
    for (;;) {
      const next = await steps.next(iterator.next())
      // The server ends the response when the signal is aborted. The reader must see the reason, not an early end.
      signal.throwIfAborted()
      if (next.done) return
      yield next.value
    }
  } finally {
    steps.release()
    close()
  }
}

async function wholeOf(body: InProcessResponse['body'], signal: AbortSignal): Promise<Buffer> {
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const chunks: Uint8Array[] = []
  for await (const chunk of chunksOf(body, signal, () => undefined)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function* chunksOf(
  body: InProcessResponse['body'],
  signal: AbortSignal,
  close: () => void,
): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    yield bytesOf(body)
    close()
  } else for await (const chunk of untilClosed(body, signal, close)) yield bytesOf(chunk)
}

function bytesOf(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}
