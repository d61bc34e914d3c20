import type {IncomingMessage} from 'node:http'
import type {Http2ServerRequest} from 'node:http2'
import type {BodyMemory} from '../kernel/api-request.ts'
import {badRequest, StatusError, tooLarge} from '../kernel/status.ts'

type HttpRequest = IncomingMessage | Http2ServerRequest

export interface BodyLimits {
  maxBytes: number
  /** How long a caller may take to send its body. */
  milliseconds: number
}

const EMPTY = new Uint8Array()
const FIRST_CAPACITY = 4096
/** How many times the largest body may be skipped unread before the connection is closed. */
const UNREAD_BODIES = 4

/** Reads a whole body, within limits of size and time, into memory that it reserves piece by piece. */
export async function readBody(
  request: HttpRequest,
  {maxBytes: most, milliseconds}: BodyLimits,
  memory?: BodyMemory,
): Promise<Uint8Array> {
  const maxBytes = Math.min(most, memory?.maxBytes ?? Infinity)
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw bodyTooLarge(maxBytes)

  return new Promise<Uint8Array>((resolve, reject) => {
    const gathered = new GatheredBytes(declared, memory)
    const timer = setTimeout(() => {
      finish(new StatusError(408, 'Timeout', 'the request body did not arrive in time', {}))
    }, milliseconds)

    const onData = (chunk: Buffer) => {
      try {
        if (gathered.length + chunk.length > maxBytes) throw bodyTooLarge(maxBytes)
        gathered.add(chunk)
      } catch (error) {
        finish(error as Error)
      }
    }
    const onEnd = () => finish()
    const onAbort = () => finish(badRequest('the request ended before its body did'))
    const onTakenBack = () => finish(memory?.signal.reason as Error)

    const finish = (error?: Error) => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('aborted', onAbort).off('error', onAbort)
      request.on('error', () => undefined)
      memory?.signal.removeEventListener('abort', onTakenBack)
      if (error === undefined) resolve(gathered.bytes)
      else reject(error)
    }
    request.on('data', onData).on('end', onEnd).on('aborted', onAbort).on('error', onAbort)
    memory?.signal.addEventListener('abort', onTakenBack, {once: true})
    if (memory?.signal.aborted === true) onTakenBack()
  })
}

/**
 * Collects pieces in one buffer that grows by doubling. If the pieces were kept, a body that arrives byte by byte would take
 * a hundred times its size.
 */
class GatheredBytes {
  readonly #declared: number
  readonly #memory: BodyMemory | undefined
  #buffer: Uint8Array = EMPTY
  length = 0

  constructor(declared: number, memory: BodyMemory | undefined) {
    this.#declared = declared
    this.#memory = memory
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length)
  }

  add(chunk: Buffer): void {
    const length = this.length + chunk.length
    // Most bodies arrive in one piece.
    if (this.length === 0 && chunk.length === this.#declared) {
      this.#memory?.take(length)
      this.#buffer = chunk
    } else {
      if (length > this.#buffer.length) this.#grow(length)
      this.#buffer.set(chunk, this.length)
    }
    this.length = length
  }

  #grow(length: number): void {
    const wanted = Math.max(length, this.#buffer.length * 2, FIRST_CAPACITY)
    const capacity = this.#declared >= length ? Math.min(wanted, this.#declared) : wanted
    this.#memory?.take(capacity - this.#buffer.length)
    const grown = Buffer.allocUnsafeSlow(capacity)
    grown.set(this.bytes)
    this.#buffer = grown
  }
}

const bodyTooLarge = (maxBytes: number) =>
  tooLarge(`Request entity too large: limit is ${maxBytes}`)

/**
 * Skips an unread body, so that its HTTP/1.1 connection can serve the next request. If the body does not end in time or is far
 * too long, the connection is closed.
 */
export function discardBody(request: IncomingMessage, {maxBytes, milliseconds}: BodyLimits): void {
  if (request.complete || request.destroyed) return
  let left = maxBytes * UNREAD_BODIES
  const giveUp = () => {
    clearTimeout(timer)
    request.destroy()
  }
  const timer = setTimeout(giveUp, milliseconds)
  request.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
  request.on('error', () => undefined)
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) giveUp()
  })
  request.resume()
}
