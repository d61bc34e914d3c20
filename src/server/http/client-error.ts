import type {Duplex} from 'node:stream'
import {systemCode} from '../../errors.ts'

const LINES: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
}

/** Answers what is no HTTP/1.1 request, or not a whole one, and closes its connection. */
export function refuseMalformed(error: Error, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const line = LINES[systemCode(error) ?? ''] ?? '400 Bad Request'
  // Nothing more is read: what follows could be taken for a request of its own.
  socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  )
}
