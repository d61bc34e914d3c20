import {connect, type ClientHttp2Session, type OutgoingHttpHeaders} from 'node:http2'
import {once} from 'node:events'
import {sleep} from '../../src/runtime.ts'
import {ANONYMOUS, HONEST, type Attack, type Field, type Identity} from '../attack.ts'
import {CSRS, inTurn} from './bodies.ts'
import {openSocket, rawSocket} from './sockets.ts'

const AT_ONCE = 40
const HOLD = 20_000
const STREAMS = 250
const PIPELINED = 400
/** As much as a request may have. */
const LONG = {'x-long': 'x'.repeat(14_000)}

/** Streams that hold memory and nothing else: bodies that never come, responses that are never read. */
export const streams: Attack = {
  name: 'streams',
  aim: `${AT_ONCE} connections of ${STREAMS} streams that are never read, from the address of the administrator`,
  run: (field) =>
    field.flood({perSecond: 20, atOnce: AT_ONCE}, async (number) => {
      const {bootstrap} = field.holdings
      const identity = number % 4 === 0 ? bootstrap : ANONYMOUS
      if (number % 5 === 0) await pipeline(field, identity)
      else await fill(field, identity, number)
    }),
}

async function fill(field: Field, identity: Identity, number: number): Promise<void> {
  const {holdings, signal, count} = field
  const {ca, port} = holdings
  const session = connect(`https://127.0.0.1:${port}`, {
    ca,
    socket: rawSocket(port, HONEST),
    settings: {initialWindowSize: 0},
  })
  session.setMaxListeners(0)
  session.on('error', () => undefined)
  try {
    await once(session, 'connect', {signal})
    for (let stream = 0; stream < STREAMS && !session.destroyed; stream++) {
      open(session, inTurn(requests(identity), number + stream))
      if (stream % 25 === 0) await sleep(10, signal)
    }
    count('opened')
    if (!session.destroyed) await Promise.race([once(session, 'close'), sleep(HOLD, signal)])
    count(session.destroyed ? 'closed' : 'held')
  } finally {
    session.destroy()
  }
}

const requests = ({token}: Identity): OutgoingHttpHeaders[] => {
  const all = {...LONG, ...(token === undefined ? {} : {authorization: `Bearer ${token}`})}
  return [
    {...all, ':method': 'POST', ':path': '/api/v1/secrets', 'content-length': '100000'},
    {...all, ':method': 'POST', ':path': CSRS, 'content-type': 'application/json'},
    {...all, ':path': '/version'},
    {...all, ':path': CSRS},
  ]
}

function open(session: ClientHttp2Session, headers: OutgoingHttpHeaders): void {
  const isPost = headers[':method'] === 'POST'
  const stream = session.request(headers, {endStream: !isPost})
  stream.on('error', () => undefined)
  // Part of a body, within the window: nobody reads it.
  if (isPost) stream.write('{'.padEnd(20_000))
}

async function pipeline({holdings, signal, count}: Field, identity: Identity): Promise<void> {
  const socket = await openSocket(holdings, identity, 'http/1.1', HONEST)
  socket.pause()
  try {
    socket.write(
      `GET /version HTTP/1.1\r\nHost: soak\r\nX-Long: ${LONG['x-long']}\r\n\r\n`.repeat(PIPELINED),
    )
    count('pipelined')
    await sleep(HOLD, signal)
  } finally {
    socket.destroy()
  }
}
