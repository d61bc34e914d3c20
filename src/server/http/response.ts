import {once} from 'node:events'
import type {ServerResponse} from 'node:http'
import type {Http2ServerResponse} from 'node:http2'
import type {ApiResponse} from '../api-request.ts'

type HttpResponse = ServerResponse | Http2ServerResponse

/** Sends an answer: whole where it is, piece by piece with back-pressure where it streams. */
export async function send(
  to: HttpResponse,
  answer: ApiResponse,
  {closeConnection, signal}: {closeConnection: boolean; signal: AbortSignal},
): Promise<void> {
  const {status, headers, body} = answer
  if (to.destroyed || to.writableEnded) return
  to.statusCode = status
  for (const [name, value] of Object.entries(headers)) to.setHeader(name, value)
  // HTTP/2 has no such header; its sessions are closed by GOAWAY.
  if (closeConnection && 'shouldKeepAlive' in to) to.setHeader('Connection', 'close')

  if (typeof body === 'string' || body instanceof Uint8Array) {
    to.setHeader('Content-Length', Buffer.byteLength(body))
    to.end(body)
    return
  }

  // Clients wait for the headers of a watch before anything has happened.
  if ('flushHeaders' in to) to.flushHeaders()
  for await (const chunk of body) {
    if (to.destroyed || to.writableEnded) return
    if (!write(to, chunk) && !signal.aborted) await drained(to, signal)
    if (signal.aborted) break
  }
  to.end()
}

function write(to: HttpResponse, chunk: string | Uint8Array): boolean {
  // Both kinds of response take the same arguments, in types that do not unify.
  return (to as ServerResponse).write(chunk)
}

async function drained(to: HttpResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(to as ServerResponse, 'drain', {signal})
  } catch {
    // The caller has gone away, which the signal says too.
  }
}
