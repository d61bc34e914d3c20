import type {IncomingMessage} from 'node:http'
import type {Http2ServerRequest} from 'node:http2'
import {badRequest, StatusError, tooLarge} from '../status.ts'

type HttpRequest = IncomingMessage | Http2ServerRequest

export interface BodyLimits {
  maxBytes: number
  /** How long a caller may take to send its body. */
  milliseconds: number
}

const EMPTY = new Uint8Array()
/** How many times the largest body may pass by unread before the connection is given up. */
const UNREAD_BODIES = 4

/** Reads a body whole, within limits of size and time. */
export async function readBody(
  request: HttpRequest,
  {maxBytes, milliseconds}: BodyLimits,
): Promise<Uint8Array> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw bodyTooLarge(maxBytes)

  return new Promise<Uint8Array>((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const timer = setTimeout(() => {
      finish(new StatusError(408, 'Timeout', 'the request body did not arrive in time', {}))
    }, milliseconds)

    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length > maxBytes) finish(bodyTooLarge(maxBytes))
      else chunks.push(chunk)
    }
    const onEnd = () => finish()
    const onAbort = () => finish(badRequest('the request ended before its body did'))

    const finish = (error?: Error) => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('aborted', onAbort).off('error', onAbort)
      request.on('error', () => undefined)
      if (error === undefined) resolve(joined(chunks, length))
      else reject(error)
    }
    request.on('data', onData).on('end', onEnd).on('aborted', onAbort).on('error', onAbort)
  })
}

function joined(chunks: Buffer[], length: number): Uint8Array {
  const [first = EMPTY] = chunks
  return chunks.length < 2 ? first : Buffer.concat(chunks, length)
}

const bodyTooLarge = (maxBytes: number) =>
  tooLarge(`Request entity too large: limit is ${maxBytes}`)

/**
 * Lets a body that nobody has read pass by, so that its connection can serve the next request. One that does not end in
 * time, or is far too long, costs its caller the connection.
 */
export function discardBody(request: HttpRequest, {maxBytes, milliseconds}: BodyLimits): void {
  if (request.complete || request.destroyed) return
  let left = maxBytes * UNREAD_BODIES
  const giveUp = () => {
    clearTimeout(timer)
    if ('stream' in request) request.stream.close()
    else request.destroy()
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
