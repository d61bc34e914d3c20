import type {IncomingMessage} from 'node:http'
import type {Http2ServerRequest} from 'node:http2'
import {badRequest, StatusError, tooLarge} from '../status.ts'

export interface BodyLimits {
  maxBytes: number
  /** How long a caller may take to send its body. */
  milliseconds: number
}

const EMPTY = new Uint8Array()

/** Reads a body whole, within limits of size and time. */
export async function readBody(
  request: IncomingMessage | Http2ServerRequest,
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
      if (error !== undefined) {
        request.on('error', () => undefined)
        request.resume()
        reject(error)
      } else
        resolve(
          length === 0
            ? EMPTY
            : chunks.length === 1
              ? (chunks[0] ?? EMPTY)
              : Buffer.concat(chunks, length),
        )
    }
    request.on('data', onData).on('end', onEnd).on('aborted', onAbort).on('error', onAbort)
  })
}

const bodyTooLarge = (maxBytes: number) =>
  tooLarge(`Request entity too large: limit is ${maxBytes}`)
