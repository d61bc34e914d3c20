import type {ServerResponse} from 'node:http'
import type {Http2ServerResponse} from 'node:http2'
import type {ApiResponse} from '../api-request.ts'

type HttpResponse = ServerResponse | Http2ServerResponse

export interface SendOptions {
  closeConnection: boolean
  /** Ends a stream; an answer that is whole is sent all the same. */
  signal: AbortSignal
  /** How long a caller may leave what was sent unread before it is dropped. */
  stallMilliseconds: number
}

/** Answers up to this size are handed over at once; larger ones only as fast as they are read. */
const SLICE = 64 * 1024

/** Sends an answer: whole where it is small, else piece by piece as the caller reads. */
export async function send(
  to: HttpResponse,
  answer: ApiResponse,
  {closeConnection, signal, stallMilliseconds}: SendOptions,
): Promise<void> {
  const {status, headers, body} = answer
  if (isGone(to)) return
  to.statusCode = status
  for (const [name, value] of Object.entries(headers)) to.setHeader(name, value)
  // HTTP/2 has no such header; its sessions are closed by GOAWAY.
  if (closeConnection && !('stream' in to)) to.setHeader('Connection', 'close')

  if (typeof body === 'string' || body instanceof Uint8Array) {
    // A long text becomes bytes once: to measure it first would go through all of it twice.
    const whole = typeof body === 'string' && body.length > SLICE ? Buffer.from(body) : body
    const length = Buffer.byteLength(whole)
    if (!to.hasHeader('Content-Length')) to.setHeader('Content-Length', length)
    if (length <= SLICE) to.end(whole)
    else await sendPieces(to, slicesOf(whole), stallMilliseconds)
    return
  }
  // Clients wait for the headers of a watch before anything has happened.
  if ('flushHeaders' in to) to.flushHeaders()
  await sendPieces(to, body, stallMilliseconds, signal)
}

async function sendPieces(
  to: HttpResponse,
  pieces: AsyncIterable<string | Uint8Array> | Iterable<Uint8Array>,
  patience: number,
  signal?: AbortSignal,
): Promise<void> {
  for await (const piece of pieces) {
    if (isGone(to)) return
    if (!write(to, piece) && !(await drained(to, patience, signal))) {
      to.destroy()
      return
    }
    if (signal?.aborted === true) break
  }
  to.end()
}

function* slicesOf(body: string | Uint8Array): Generator<Uint8Array> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE)
}

const isGone = (to: HttpResponse) =>
  to.writableEnded || ('stream' in to ? to.stream.destroyed : to.destroyed)

function write(to: HttpResponse, piece: string | Uint8Array): boolean {
  // Both kinds of response take the same arguments, in types that do not unify.
  return (to as ServerResponse).write(piece)
}

/** Whether the caller has read on: false where it has gone away or has not read for so long. */
async function drained(
  to: HttpResponse,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const events = to as ServerResponse
  return new Promise((resolve) => {
    const finish = (isDrained: boolean) => {
      clearTimeout(timer)
      events.off('drain', onDrain).off('close', onGone)
      signal?.removeEventListener('abort', onGone)
      resolve(isDrained)
    }
    const onDrain = () => finish(true)
    const onGone = () => finish(false)
    const timer = setTimeout(onGone, milliseconds)
    events.once('drain', onDrain).once('close', onGone)
    signal?.addEventListener('abort', onGone, {once: true})
    if (signal?.aborted === true) onGone()
  })
}
