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
  /**
   * Keeps the next request that contains this, and cuts its connection; then calls `onHeld` with a function that passes it on at last,
   * and resolves when it is answered.
   */
  holdRequest(text: string, onHeld: (passOn: () => Promise<void>) => void): void
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
  let held: {text: string; onHeld: (passOn: () => Promise<void>) => void} | undefined
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
      if (held && bytes.includes(held.text)) {
        const {onHeld} = held
        held = undefined
        client.destroy()
        return onHeld(() => passOn(target, bytes))
      }
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
    holdRequest: (text, onHeld) => (held = {text, onHeld}),
    freeze: () => (isFrozen = true),
    slowWatches: (milliseconds) => (watchDelay = milliseconds),
    heal: () => {
      doomed = undefined
      held = undefined
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

/** A whole request in one piece, on a connection of its own. */
async function passOn(target: string, request: Uint8Array): Promise<void> {
  const upstream = connect(Number(new URL(target).port), '127.0.0.1')
  upstream.write(request)
  await once(upstream, 'data')
  upstream.destroy()
}
