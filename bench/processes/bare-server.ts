import type {ServerResponse} from 'node:http'
import {createSecureServer} from 'node:http2'
import type {AddressInfo} from 'node:net'
import {setImmediate as nextTurn} from 'node:timers/promises'
import {serveCalls} from './calls.ts'
import {usage, type Target} from './target.ts'

export interface BareOptions {
  tls: Omit<Target, 'port'>
  /** The answers' sizes, by path. */
  sizes: Record<string, number>
}

const watching: ServerResponse[] = []

/** The least that a server with the same TLS can do: read the request, answer a fixed body. */
async function start({tls, sizes}: BareOptions): Promise<number> {
  const {ca, certificate: cert, key} = tls
  const bodies = new Map(
    Object.entries(sizes).map(([path, size]) => [path, 'x'.repeat(size)] as const),
  )
  const server = createSecureServer({
    cert,
    key,
    ca,
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
  })
  server.on('request', (request, response) => {
    request.resume()
    request.on('end', () => {
      response.statusCode = request.method === 'POST' ? 201 : 200
      response.setHeader('Content-Type', 'application/json')
      const body = bodies.get(request.url)
      if (body === undefined) {
        hold(response)
        return
      }
      response.setHeader('Content-Length', body.length)
      response.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function hold(response: unknown): void {
  // Watchers come by HTTP/1.1.
  const open = response as ServerResponse
  watching.push(open)
  open.flushHeaders()
}

/** Writes a line of so many bytes to everyone who listens, again and again. */
async function broadcast({size, times}: {size: number; times: number}): Promise<void> {
  const line = `${'x'.repeat(size - 1)}\n`
  for (let time = 0; time < times; time++) {
    for (const response of watching) response.write(line)
    await nextTurn()
  }
}

const operations = {start, broadcast, usage}
export type BareOperations = typeof operations

serveCalls(operations)
