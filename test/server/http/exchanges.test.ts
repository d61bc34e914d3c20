import assert from 'node:assert/strict'
import {once} from 'node:events'
import {connect, type ClientHttp2Session, type ClientHttp2Stream} from 'node:http2'
import type {ApiRequest, Handler} from '../../../src/server/kernel/api-request.ts'
import type {HttpLimits} from '../../../src/server/http/listener.ts'
import {until} from '../support.ts'
import {get1, get2, json, listen, rawConnection, session2, untilClosed} from './support.ts'

type Server = Awaited<ReturnType<typeof listen>>

const KIB = 1024
const answering: Handler = () => Promise.resolve(json({a: 'x'.repeat(1000)}))
const refusing: Handler = () => Promise.resolve(json({reason: 'Forbidden'}, 403))
/** Reads some of a body, and finds it too long. */
const tooLong: Handler = async (request) => {
  const memory = {maxBytes: 10, take: () => undefined, signal: request.signal}
  assert.ok(typeof request.body === 'function')
  await assert.rejects(request.body(memory), {code: 413})
  return refusing(request)
}
/** As the server for callers that may do what they ask for, each with a path of its own; `/` is for strangers. */
const known: Handler = (request) => {
  const username = request.path.slice(1)
  if (username !== '') request.held?.belongsTo({username, groups: []})
  return answering(request)
}

async function serving(
  handler: Handler,
  limits: Partial<HttpLimits>,
  test: (server: Server) => Promise<void>,
): Promise<void> {
  const server = await listen(handler, limits)
  try {
    await test(server)
  } finally {
    await server.listener.close(0)
  }
}

/** A connection whose caller never allows the server to send a byte of a response. */
async function unreading({port, ca}: Server): Promise<ClientHttp2Session> {
  const session = connect(`https://127.0.0.1:${port}`, {ca, settings: {initialWindowSize: 0}})
  session.on('error', () => undefined)
  session.setMaxListeners(0)
  await once(session, 'connect')
  return session
}

function ask(session: ClientHttp2Session, headers = {}, endStream = true): ClientHttp2Stream {
  const stream = session.request({':path': '/', ...headers}, {endStream})
  return stream.on('error', () => undefined)
}

const post = (session: ClientHttp2Session, headers = {}) =>
  ask(session, {':method': 'POST', ...headers}, false)

describe('what callers make the server hold', () => {
  for (const [name, handler] of [
    ['that was refused', refusing],
    ['of which a part was read', tooLong],
  ] as const) {
    it(`ends with the response to a request ${name}, though its body never comes to an end`, () =>
      serving(handler, {}, async (server) => {
        const session = await session2(server)
        const stream = post(session)
        stream.write('x'.repeat(1000))
        const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
        assert.equal(headers[':status'], 403)
        let text = ''
        stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
        // The server's doing: its caller goes on with the body.
        await once(stream, 'close')
        assert.equal(text, '{"reason":"Forbidden"}')
        assert.equal(stream.rstCode, 0)
        assert.equal(session.destroyed, false)
        await until(() => server.listener.heldBytes === 0)
        session.destroy()
      }))
  }

  it('ends with an HTTP/1.1 connection whose caller never sends the body of a refused request', () =>
    serving(refusing, {stallMilliseconds: 100}, async (server) => {
      const socket = await rawConnection(server)
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n')
      assert.match(await untilClosed(socket), /^HTTP\/1.1 403 /)
      await until(() => server.listener.heldBytes === 0)
    }))

  it('ends when a short response was not read in time', () =>
    serving(answering, {stallMilliseconds: 100}, async (server) => {
      const session = await unreading(server)
      await once(ask(session), 'close')
      await until(() => server.listener.heldBytes === 0)
      session.destroy()
    }))

  it('ends in time though the body of the request never comes, either', () =>
    serving(refusing, {stallMilliseconds: 100}, async (server) => {
      const session = await unreading(server)
      await once(post(session), 'close')
      await until(() => server.listener.heldBytes === 0)
      session.destroy()
    }))

  for (const [name, flood] of [
    ['responses', (session: ClientHttp2Session) => ask(session)],
    ['headers', (session: ClientHttp2Session) => ask(session, {'x-long': 'x'.repeat(10_000)})],
    ['bodies', (session: ClientHttp2Session) => post(session).write('x'.repeat(10_000))],
  ] as const) {
    it(`is bounded for strangers who fill it with ${name}, and they lose their connections`, async () => {
      const most = 2048 * KIB
      await serving(answering, {exchangeBytes: most}, async (server) => {
        const sessions: ClientHttp2Session[] = []
        let closed = 0
        const honest = await session2(server)
        for (let count = 0; count < 10; count++) {
          const session = await unreading(server)
          session.once('close', () => closed++)
          sessions.push(session)
          for (let number = 0; number < 40; number++) if (!session.destroyed) flood(session)
          assert.equal((await get2(honest, '/')).status, 200)
          assert.equal((await get1(server, '/')).status, 200)
          assert.ok(server.listener.heldBytes <= most)
        }
        assert.ok(closed > 0)
        for (const session of sessions) session.destroy()
        await until(() => server.listener.heldBytes === 0)
        assert.equal(honest.destroyed, false)
        honest.destroy()
      })
    })
  }

  it('is taken back from callers who hold most, the oldest requests first, and their connections stay', () =>
    serving(known, {exchangeBytes: 400 * KIB}, async (server) => {
      const streams: ClientHttp2Stream[] = []
      const sessions = [await unreading(server), await unreading(server)]
      const closed = new Set<number>()
      for (const [index, name] of ['/alice', '/bob'].entries())
        for (let number = 0; number < 11; number++) {
          const stream = ask(sessions[index]!, {':path': name})
          const position = streams.push(stream) - 1
          stream.once('close', () => closed.add(position))
          await once(stream, 'response')
        }
      assert.deepEqual([...closed], [])
      const stranger = await unreading(server)
      for (let number = 0; number < 5; number++) await once(ask(stranger), 'response')
      await until(() => closed.size >= 3)
      for (const first of [0, 11]) {
        const lost = [...closed].filter((position) => position >= first && position < first + 11)
        assert.deepEqual(
          lost,
          lost.map((_, index) => first + index),
        )
        assert.ok(lost.length > 0)
      }
      for (const session of [...sessions, stranger]) {
        assert.equal(session.destroyed, false)
        session.destroy()
      }
      await until(() => server.listener.heldBytes === 0)
    }))

  it('is bounded for requests on one HTTP/1.1 connection that wait behind each other', async () => {
    let running = 0
    let finish: () => void = () => undefined
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const waiting: Handler = async (request) => {
      running++
      await finished
      return answering(request)
    }
    await serving(waiting, {exchangeBytes: 400 * KIB}, async (server) => {
      const socket = await rawConnection(server)
      const closed = once(socket, 'close')
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000))
      await closed
      assert.ok(running > 1 && running < 20, String(running))
      await until(() => server.listener.heldBytes === 0)
      finish()
    })
  })

  it('counts a watch elsewhere, with its headers', () => {
    let held: ApiRequest['held']
    const watching: Handler = ({held: given, signal}) => {
      held = given
      held?.release()
      const body = (async function* () {
        yield 'begun\n'
        if (!signal.aborted) await once(signal, 'abort')
      })()
      return Promise.resolve({status: 200, headers: {}, body})
    }
    return serving(watching, {}, async (server) => {
      const session = await session2(server)
      await once(ask(session, {'x-long': 'x'.repeat(10_000)}), 'data')
      assert.ok((held?.bytes ?? 0) > 26_000)
      assert.equal(server.listener.heldBytes, 0)
      session.destroy()
    })
  })
})
