import type {ServerResponse} from 'node:http'
import type {ApiResponse} from '../kernel/api-request.ts'
import {isQueued, type HeldExchange, type HttpResponse} from './exchanges.ts'
import type {UnsentBytes} from './unsent-bytes.ts'

export interface SendOptions {
  closeConnection: boolean
  /** Ends a stream; a complete response is still sent. */
  signal: AbortSignal
  /** How long a caller may leave what was sent unread before it is dropped. */
  stallMilliseconds: number
  unsent: UnsentBytes
  /** Counts a short response. */
  held: Pick<HeldExchange, 'take'>
}

type ReadOptions = Pick<SendOptions, 'stallMilliseconds' | 'unsent'> & {signal?: AbortSignal}

/** Responses up to this size are written at once; larger ones only as fast as they are read. */
const SLICE = 64 * 1024

/** Sends a response: at once if it is small, else piece by piece as the caller reads. An open stream keeps nothing of this call in memory. */
export async function send(
  to: HttpResponse,
  answer: ApiResponse,
  {closeConnection, held, ...options}: SendOptions,
): Promise<void> {
  const {status, headers, body} = answer
  const {stallMilliseconds, unsent} = options
  if (isGone(to)) return
  to.statusCode = status
  for (const [name, value] of Object.entries(headers)) to.setHeader(name, value)
  // HTTP/2 has no such header; its sessions are closed by GOAWAY.
  if (closeConnection && !('stream' in to)) to.setHeader('Connection', 'close')

  if (typeof body === 'string' || body instanceof Uint8Array) {
    // Encode a long text only once: measuring it first would process it twice.
    const whole = typeof body === 'string' && body.length > SLICE ? Buffer.from(body) : body
    const length = Buffer.byteLength(whole)
    if (!to.hasHeader('Content-Length')) to.setHeader('Content-Length', length)
    if (length > SLICE) return sendSlices(to, whole as Uint8Array, {stallMilliseconds, unsent})
    if (held.take(length)) to.end(whole)
    else to.destroy()
    return
  }
  if (answer.finite === true) return sendStream(to, body, {stallMilliseconds, unsent})
  // Clients wait for the headers of a watch before anything has happened.
  if ('flushHeaders' in to) to.flushHeaders()
  return sendStream(to, body, options)
}

async function sendSlices(
  to: HttpResponse,
  bytes: Uint8Array,
  options: ReadOptions,
): Promise<void> {
  let at = 0
  for (; bytes.length - at > SLICE; at += SLICE) {
    if (!(await sendPiece(to, bytes.subarray(at, at + SLICE), options))) return
  }
  // Together with the last bytes, because the caller may send its next request at once.
  to.end(bytes.subarray(at))
  if (!(await happens(to, 'finish', options))) to.destroy()
}

async function sendStream(
  to: HttpResponse,
  pieces: AsyncIterable<string | Uint8Array>,
  options: ReadOptions,
): Promise<void> {
  for await (const piece of pieces) {
    if (!(await sendPiece(to, piece, options))) return
    if (options.signal?.aborted === true) break
  }
  to.end()
}

/** Returns whether more can be sent. */
async function sendPiece(
  to: HttpResponse,
  piece: string | Uint8Array,
  options: ReadOptions,
): Promise<boolean> {
  if (isGone(to)) return false
  if (write(to, piece)) return true
  const release = options.unsent.hold(Buffer.byteLength(piece), unread(to))
  try {
    if (await happens(to, 'drain', options)) return true
  } finally {
    release()
  }
  to.destroy()
  return false
}

const isClosed = (to: HttpResponse) => ('stream' in to ? to.stream.destroyed : to.destroyed)

const unread = (to: HttpResponse) => ({
  drop: () => void to.destroy(),
  isOver: () => isClosed(to) || to.req.socket.destroyed,
})

const isGone = (to: HttpResponse) => to.writableEnded || isClosed(to)

function write(to: HttpResponse, piece: string | Uint8Array): boolean {
  // Both kinds of response take the same arguments, in types that do not unify.
  return (to as ServerResponse).write(piece)
}

/**
 * Whether the event comes before the caller leaves or stops reading for too long. The time counts once it is this response's
 * turn.
 */
async function happens(
  to: HttpResponse,
  event: 'drain' | 'finish',
  {stallMilliseconds, signal}: ReadOptions,
): Promise<boolean> {
  const events = to as ServerResponse
  return new Promise((resolve) => {
    const finish = (happened: boolean) => {
      clearTimeout(timer)
      events.off(event, onEvent).off('close', onGone)
      signal?.removeEventListener('abort', onGone)
      resolve(happened)
    }
    const onEvent = () => finish(true)
    const onGone = () => finish(false)
    const timer = setTimeout(() => {
      if (isQueued(to)) timer.refresh()
      else onGone()
    }, stallMilliseconds)
    events.once(event, onEvent).once('close', onGone)
    signal?.addEventListener('abort', onGone, {once: true})
    if (signal?.aborted === true) onGone()
  })
}
