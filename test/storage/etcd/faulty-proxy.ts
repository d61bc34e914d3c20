import {once} from 'node:events'
import {connect, createServer, type AddressInfo, type Socket} from 'node:net'

/** A connection between a client and one member that can go wrong. */
export interface FaultyProxy {
  url: string
  /**
   * Passes requests on and cuts the connection in place of the answer, if the request contains this; then calls `then`. With
   * `instead`, that is the answer.
   */
  loseAnswersTo(text: string, then: () => void, instead?: string): void
  /** Accepts connections and bytes, and does nothing with them. */
  freeze(): void
  /** What watches are sent arrives so much later. */
  slowWatches(milliseconds: number): void
  /** Cuts every connection; new ones are as before any fault. */
  heal(): void
  /** How many answers were lost. */
  lost(): number
  stop(): Promise<void>
}

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const sockets = new Set<Socket>()
  let doomed: string | undefined
  let onLost: () => void = () => undefined
  let substitute: string | undefined
  let isFrozen = false
  let watchDelay = 0
  let lost = 0
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(target).port), '127.0.0.1')
    let isDoomed = false
    let isWatch = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes) => {
      if (isFrozen) return
      if (bytes.includes('GET /v3/watch')) isWatch = true
      if (doomed !== undefined && bytes.includes(doomed)) isDoomed = true
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (isFrozen) return
      if (isWatch && watchDelay > 0) return void setTimeout(() => client.write(bytes), watchDelay)
      if (!isDoomed) return void client.write(bytes)
      lost += 1
      if (substitute === undefined) client.destroy()
      else {
        client.write(substitute)
        doomed = undefined
        isDoomed = false
      }
      onLost()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAnswersTo: (text, then, instead) => {
      doomed = text
      substitute = instead
      onLost = then
    },
    freeze: () => (isFrozen = true),
    slowWatches: (milliseconds) => (watchDelay = milliseconds),
    heal: () => {
      doomed = undefined
      isFrozen = false
      for (const socket of sockets) socket.destroy()
    },
    lost: () => lost,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
