import {once} from 'node:events'
import {sleep} from '../../src/runtime.ts'
import {ANONYMOUS, type Attack} from '../attack.ts'
import {inTurn} from './bodies.ts'
import {openSocket, statusOf} from './sockets.ts'

const HOST = 'Host: soak\r\n'
const REQUESTS = [
  'GET /\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  `GET / HTTP/9.9\r\n${HOST}\r\n`,
  `GET /${'a'.repeat(100_000)} HTTP/1.1\r\n${HOST}\r\n`,
  `GET / HTTP/1.1\r\n${HOST}${Array.from({length: 3000}, (_, n) => `h${n}: x\r\n`).join('')}\r\n`,
  `POST / HTTP/1.1\r\n${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${'1;x=y\r\na\r\n'.repeat(5000)}0\r\n\r\n`,
  `GET / HTTP/1.1\r\n${HOST}Upgrade: x\r\nConnection: upgrade\r\n\r\nrubbish\r\n\r\n`,
  `CONNECT x:1 HTTP/1.1\r\n${HOST}\r\n`,
  `GET /version HTTP/1.1\r\n${HOST}\r\n`.repeat(200),
  '\r\n'.repeat(20_000),
  '\0'.repeat(20_000),
  '',
]
const PATIENCE = 3000

/** What is no HTTP, or almost. */
export const malformed: Attack = {
  name: 'malformed',
  aim: 'broken HTTP and half-open connections, without credentials',
  run: ({holdings, signal, flood, count}) =>
    flood({perSecond: 40, atOnce: 40}, async (number) => {
      const socket = await openSocket(holdings, ANONYMOUS)
      try {
        socket.write(inTurn(REQUESTS, number))
        const answer = await Promise.race([
          once(socket, 'data').then(statusOf),
          once(socket, 'close').then(() => 'closed'),
          sleep(PATIENCE, signal).then(
            () => 'no answer',
            () => 'no answer',
          ),
        ])
        count(answer)
      } finally {
        socket.destroy()
      }
    }),
}
