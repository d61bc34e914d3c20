import assert from 'node:assert/strict'
import {once} from 'node:events'
import {Agent} from 'node:https'
import {connect, type Socket} from 'node:net'
import {setImmediate as nextTurn} from 'node:timers/promises'
import type {TLSSocket} from 'node:tls'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import type {HttpLimits} from '../../../src/server/http/listener.ts'
import {until} from '../support.ts'
import {get1, get2, json, listen, rawConnection, session2, untilClosed} from './support.ts'

const echo: Handler = ({method, path}) => Promise.resolve(json({method, path}))

type Listening = Awaited<ReturnType<typeof listen>>

async function serving(
  handler: Handler,
  limits: Partial<HttpLimits>,
  test: (server: Listening) => Promise<void>,
): Promise<void> {
  const server = await listen(handler, limits)
  try {
    await test(server)
  } finally {
    await server.listener.close(0)
  }
}

/** Asks one thing after another while something else goes on; every answer has to come. */
async function honestClient(server: Listening, meanwhile: () => Promise<void>): Promise<number> {
  let isOver = false
  let answers = 0
  const asking = (async () => {
    while (!isOver || answers < 20) {
      const {status} = await get1(server, '/honest')
      assert.equal(status, 200)
      answers++
    }
  })()
  await meanwhile()
  isOver = true
  await asking
  return answers
}

describe('a listener among hostile clients', () => {
  it('closes connections whose headers do not come to an end', () =>
    serving(echo, {headerMilliseconds: 150}, async (server) => {
      const socket = await rawConnection(server)
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n')
      const trickle = setInterval(() => socket.write('X-A: b\r\n'), 50)
      const text = await untilClosed(socket)
      clearInterval(trickle)
      assert.match(text, /^HTTP\/1.1 408 /)
    }))

  it('closes connections that never say anything', () =>
    serving(echo, {headerMilliseconds: 150}, async (server) => {
      const socket = await rawConnection(server)
      await untilClosed(socket)
    }))

  it('closes connections that do not finish their handshake', () =>
    serving(echo, {handshakeMilliseconds: 100}, async (server) => {
      const sockets: Socket[] = []
      for (let count = 0; count < 20; count++) {
        const socket = connect(server.port, '127.0.0.1')
        socket.on('error', () => undefined).resume()
        sockets.push(socket)
      }
      await Promise.all(sockets.map((socket) => once(socket, 'close')))
      await until(() => server.listener.openConnections === 0)
    }))

  it('closes HTTP/2 connections that are idle, but none with a quiet watch', () => {
    const handler: Handler = ({path, signal}) => {
      if (path !== '/watch') return echo({path} as never)
      const body = (async function* () {
        yield 'begun\n'
        if (!signal.aborted) await once(signal, 'abort')
      })()
      return Promise.resolve({status: 200, headers: {}, body})
    }
    return serving(handler, {idleMilliseconds: 150}, async (server) => {
      const idle = await session2(server)
      const idleClosed = once(idle, 'close')
      const watching = await session2(server)
      const stream = watching.request({':path': '/watch'})
      stream.on('error', () => undefined)
      await once(stream, 'data')
      await idleClosed
      // For as long as two more idle ones last, one after the other.
      for (let count = 0; count < 2; count++) await once(await session2(server), 'close')
      assert.equal((await get2(watching, '/more')).status, 200)
      assert.equal(stream.closed, false)
      stream.close()
      await once(watching, 'close')
    })
  })

  it('answers honest clients while idle connections flood it past its limit', () =>
    serving(echo, {connections: 20}, async (server) => {
      const flood: TLSSocket[] = []
      const answers = await honestClient(server, async () => {
        for (let count = 0; count < 100; count++) flood.push(await rawConnection(server))
      })
      assert.ok(answers >= 20)
      assert.ok(server.listener.openConnections <= 20)
      for (const socket of flood) socket.destroy()
    }))

  it('answers honest clients while unfinished handshakes flood it past its limit', () =>
    serving(echo, {connections: 20}, async (server) => {
      const flood: Socket[] = []
      const answers = await honestClient(server, async () => {
        for (let count = 0; count < 200; count++) {
          const socket = connect(server.port, '127.0.0.1')
          socket.on('error', () => undefined)
          flood.push(socket)
          await once(socket, 'connect')
        }
      })
      assert.ok(answers >= 20)
      assert.ok(server.listener.openConnections <= 20)
      for (const socket of flood) socket.destroy()
    }))

  it('does not drop a connection that is in use for one that comes', async () => {
    let finish: (() => void) | undefined
    const handler: Handler = async ({path}) => {
      if (path === '/slow') await new Promise<void>((resolve) => (finish = resolve))
      return json({path})
    }
    await serving(handler, {connections: 3}, async (server) => {
      const slow = get1(server, '/slow')
      await until(() => finish !== undefined)
      const flood = []
      for (let count = 0; count < 20; count++) flood.push(await rawConnection(server))
      finish?.()
      assert.equal((await slow).status, 200)
      for (const socket of flood) socket.destroy()
    })
  })

  it('answers honest clients though every connection that it may have holds a watch', async () => {
    let watching = 0
    const handler: Handler = async ({path, signal}) => {
      if (path !== '/watch') return json({path})
      watching++
      await once(signal, 'abort')
      return json({path})
    }
    await serving(handler, {connections: 10}, async (server) => {
      const agent = new Agent({keepAlive: true})
      const watches = Array.from({length: 10}, () => get1(server, '/watch', {agent}))
      const ends = Promise.allSettled(watches)
      await until(() => watching === 10)
      for (let count = 0; count < 5; count++) {
        assert.equal((await get1(server, '/honest')).status, 200)
      }
      agent.destroy()
      await ends
    })
  })

  it('keeps an honest idle connection while others that never ask for anything come and go', () =>
    serving(echo, {connections: 16}, async (server) => {
      const agent = new Agent({keepAlive: true, maxSockets: 1})
      await get1(server, '/', {agent})
      const flood = []
      for (let count = 0; count < 100; count++) flood.push(await rawConnection(server))
      const [socket] = Object.values(agent.freeSockets).flat()
      assert.equal(socket?.destroyed, false)
      assert.equal((await get1(server, '/', {agent})).status, 200)
      agent.destroy()
      for (const one of flood) one.destroy()
    }))

  it('answers honest clients during an HTTP/2 rapid reset, and lets go of every request', async () => {
    let running = 0
    const handler: Handler = async (request) => {
      running++
      await nextTurn()
      running--
      return echo(request)
    }
    await serving(handler, {}, async (server) => {
      const answers = await honestClient(server, async () => {
        for (let round = 0; round < 20; round++) {
          const session = await session2(server)
          for (let count = 0; count < 200 && !session.closed && !session.destroyed; count++) {
            const stream = session.request({':path': '/attack'})
            stream.on('error', () => undefined)
            stream.close(8)
          }
          // It answers in order of arrival, unless it has ended the connection.
          await get2(session, '/').catch(() => undefined)
          session.destroy()
        }
      })
      assert.ok(answers >= 20)
      await until(() => running === 0)
    })
  })

  it('refuses more streams on one connection than its limit', async () => {
    let running = 0
    let most = 0
    let finish: () => void = () => undefined
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const handler: Handler = async (request) => {
      most = Math.max(most, ++running)
      await finished
      running--
      return echo(request)
    }
    await serving(handler, {streamsPerConnection: 5}, async (server) => {
      const session = await session2(server)
      await until(() => session.remoteSettings.maxConcurrentStreams === 5)
      const asked = Array.from({length: 10}, () => get2(session, '/').catch(() => ({status: 0})))
      await until(() => running === 5)
      finish()
      const answers = await Promise.all(asked)
      assert.equal(most, 5)
      assert.ok(answers.filter(({status}) => status === 200).length >= 5)
      assert.equal((await get2(session, '/')).status, 200)
      session.close()
    })
  })

  const smuggled: [string, string][] = [
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n'],
    ['two lengths that differ', 'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
    ['two lengths in one', 'Content-Length: 5, 6\r\n\r\nhello'],
    ['a length below zero', 'Content-Length: -1\r\n\r\n'],
    ['chunks by another name', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['a header that is folded', 'X-A: b\r\n Transfer-Encoding: chunked\r\n\r\n'],
    ['a space before the colon', 'Content-Length : 5\r\n\r\nhello'],
    ['a NUL in a header', 'X-A: a\0b\r\n\r\n'],
  ]
  for (const [name, lines] of smuggled) {
    it(`takes ${name} for no request, and nothing behind it for another one`, async () => {
      const seen: string[] = []
      const handler: Handler = ({path}) => {
        seen.push(path)
        return Promise.resolve(json({path}))
      }
      await serving(handler, {}, async (server) => {
        const socket = await rawConnection(server)
        socket.write(
          `POST /first HTTP/1.1\r\nHost: x\r\n${lines}GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`,
        )
        const text = await untilClosed(socket)
        assert.match(text, /^HTTP\/1.1 400 /)
        assert.equal(seen.includes('/smuggled'), false)
      })
    })
  }

  it('answers 431 to headers of an absurd size, over HTTP/1.1, and goes on over HTTP/2', () =>
    serving(echo, {}, async (server) => {
      const socket = await rawConnection(server)
      socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(100_000)}\r\n\r\n`)
      assert.match(await untilClosed(socket), /^HTTP\/1.1 431 /)
      const session = await session2(server)
      const answer = await get2(session, '/', {'x-long': 'a'.repeat(100_000)}).catch(
        () => undefined,
      )
      assert.notEqual(answer?.status, 200)
      assert.equal((await get1(server, '/')).status, 200)
      session.destroy()
    }))

  it('drops a reader that does not read, and holds no more than a little for it', async () => {
    const piece = `${'x'.repeat(64 * 1024)}\n`
    let sent = 0
    let ended = 0
    const endless: Handler = () => {
      const body = (async function* () {
        try {
          for (;;) {
            yield piece
            sent += piece.length
            await nextTurn()
          }
        } finally {
          ended++
        }
      })()
      return Promise.resolve({status: 200, headers: {}, body})
    }
    await serving(endless, {stallMilliseconds: 200}, async (server) => {
      const socket = await rawConnection(server)
      socket.pause()
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      const session = await session2(server)
      const stream = session.request({':path': '/'})
      stream.on('error', () => undefined).pause()
      await until(() => ended === 2)
      // The sockets' own buffers on both sides, and no queue behind them.
      assert.ok(sent < 32 * 1024 * 1024, String(sent))
      socket.destroy()
      session.destroy()
    })
  })

  it('drops a reader of one large answer that does not read', async () => {
    const large: Handler = () =>
      Promise.resolve({status: 200, headers: {}, body: 'x'.repeat(32 * 1024 * 1024)})
    await serving(large, {stallMilliseconds: 200}, async (server) => {
      const socket = await rawConnection(server)
      socket.pause()
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await until(() => server.listener.openConnections === 1)
      await until(() => server.listener.openConnections === 0)
      socket.destroy()
      const {text} = await get1(server, '/')
      assert.equal(text.length, 32 * 1024 * 1024)
    })
  })

  it('takes any word for a method over HTTP/2 without harm', () =>
    serving(echo, {}, async (server) => {
      const session = await session2(server)
      const {text} = await get2(session, '/', {':method': 'CONSTRUCTOR'})
      assert.equal(text, '{"method":"CONSTRUCTOR","path":"/"}')
      session.close()
    }))
})
