import {once} from 'node:events'
import {connect, createServer, type AddressInfo, type Socket} from 'node:net'

/** A plain TCP balancer on the loopback: it knows nothing of TLS, and gives each connection to the next port that accepts it. */
export interface Balancer {
  port: number
  /** Where connections go, in turn. */
  targets: number[]
  /** How many connections each target has had. */
  counts: Map<number, number>
  close(): Promise<void>
}

export async function startBalancer(): Promise<Balancer> {
  const targets: number[] = []
  const counts = new Map<number, number>()
  const sockets = new Set<Socket>()
  let turn = 0

  const reach = async (): Promise<Socket | undefined> => {
    for (let tries = targets.length; tries > 0; tries--) {
      const port = targets[turn++ % targets.length] ?? 0
      const socket = connect(port, '127.0.0.1')
      try {
        await once(socket, 'connect')
        counts.set(port, (counts.get(port) ?? 0) + 1)
        return socket
      } catch {
        socket.destroy()
      }
    }
    return undefined
  }
  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket)
    socket.on('error', () => other.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      other.destroy()
    })
  }
  const server = createServer((client) => {
    client.on('error', () => undefined)
    void reach().then((target) => {
      if (!target) return client.destroy()
      keep(client, target)
      keep(target, client)
      client.pipe(target).pipe(client)
      return undefined
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    targets,
    counts,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
