import {once} from 'node:events'
import {sleep} from '../../src/runtime.ts'
import type {Attack} from '../attack.ts'
import {CSRS, inTurn} from './bodies.ts'
import {openSocket, statusOf} from './sockets.ts'

const AT_ONCE = 300
const EVERY = 2000

/** Bodies that arrive byte by byte, so that their requests never end. */
export const slowUploads: Attack = {
  name: 'slow-uploads',
  aim: `${AT_ONCE} uploads that never end, by six identities`,
  run: ({holdings, signal, flood, count}) =>
    flood({perSecond: 40, atOnce: AT_ONCE}, async (number) => {
      const identity = inTurn([...holdings.nodes, holdings.bootstrap], number)
      const socket = await openSocket(holdings, identity)
      const authorization = identity.token ? `Authorization: Bearer ${identity.token}\r\n` : ''
      socket.write(
        `POST ${CSRS} HTTP/1.1\r\nHost: soak\r\n${authorization}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{`,
      )
      count('opened')
      const answered = once(socket, 'data', {signal}).then(
        (data) => count(statusOf(data)),
        () => undefined,
      )
      let isOpen = true
      socket.once('close', () => (isOpen = false))
      void answered.then(() => (isOpen = false))
      try {
        while (isOpen) {
          socket.write(' ')
          await sleep(EVERY, signal)
        }
        count('ended')
      } finally {
        socket.destroy()
      }
    }),
}
