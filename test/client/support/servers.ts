import {createServer as createPlainServer, type RequestListener} from 'node:http'
import {createServer, type ServerOptions} from 'node:https'
import type {AddressInfo, Server, Socket} from 'node:net'
import type {TestPair} from './certificates.ts'

export interface RunningServer {
  port: number
  url: string
  /** Every connection that was made, in order. */
  sockets: Socket[]
  /** Cuts all connections and stops listening. */
  stop(): Promise<void>
}

export async function serveTls(
  {certificate, key}: TestPair,
  listener: RequestListener,
  options: ServerOptions & {port?: number} = {},
): Promise<RunningServer> {
  const server = createServer({cert: certificate, key, ...options}, listener)
  return await listen(server, 'https', options.port)
}

export async function servePlain(listener: RequestListener): Promise<RunningServer> {
  return await listen(createPlainServer(listener), 'http')
}

export async function listen(server: Server, scheme: string, port = 0): Promise<RunningServer> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address() as AddressInfo
  return {
    port: address.port,
    url: `${scheme}://127.0.0.1:${address.port}`,
    sockets,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Runs what tests registered, last first, whatever fails. */
export class Cleanup {
  readonly #steps: (() => unknown)[] = []

  add<T extends {stop(): unknown} | {close(): unknown}>(resource: T): T {
    this.#steps.push(() => ('stop' in resource ? resource.stop() : resource.close()))
    return resource
  }

  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) await step()
  }
}
