import {once} from 'node:events'
import {sleep} from '../../src/runtime.ts'
import {ANONYMOUS, HONEST, type Attack} from '../attack.ts'
import {openSocket, rawSocket} from './sockets.ts'

const AT_ONCE = 800
const HOLD = 25_000

/** Connections and no more: half of them without a handshake. */
export const connections: Attack = {
  name: 'connections',
  aim: `${AT_ONCE} connections, more than the server has descriptors for, from the address of the administrator`,
  run: ({holdings, signal, flood, count}) =>
    flood({perSecond: 60, atOnce: AT_ONCE}, async (number) => {
      const socket =
        number % 2 === 0
          ? rawSocket(holdings.port, HONEST)
          : await openSocket(holdings, ANONYMOUS, 'http/1.1', HONEST)
      socket.on('error', () => undefined).resume()
      if (number % 4 === 1) socket.write('GET /version HTTP/1.1\r\nHost: soak\r\n')
      count('opened')
      try {
        if (!socket.destroyed) await Promise.race([once(socket, 'close'), sleep(HOLD, signal)])
        count(socket.destroyed ? 'closed' : 'held')
      } finally {
        socket.destroy()
      }
    }),
}
