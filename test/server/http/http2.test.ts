import assert from 'node:assert/strict'
import {once} from 'node:events'
import {readFile} from 'node:fs/promises'
import {constants, type ClientHttp2Session} from 'node:http2'
import type {HttpLimits} from '../../../src/server/http/listener.ts'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import {ProcessorSlice} from '../../../src/server/limits/processor-slice.ts'
import {HTTP2_FLOODS, HTTP2_PREFACE, http2Get, pour} from '../../helpers/http2-floods.ts'
import {until} from '../support.ts'
import {get2, json, listen, rawConnection, session2} from './support.ts'

/** `/watch` sends one line, and no more until it is stopped. */
const handler: Handler = ({path, signal}) => {
  if (path !== '/watch') return Promise.resolve(json({path}))
  const body = (async function* () {
    yield 'begun\n'
    if (!signal.aborted) await once(signal, 'abort')
  })()
  return Promise.resolve({status: 200, headers: {}, body})
}

const QUICK = {silenceMilliseconds: 100, answerMilliseconds: 100}
const NEVER = 1e9

/** Gives the server and how many sockets this process has more than before. */
async function serving(
  limits: Partial<HttpLimits>,
  test: (server: Awaited<ReturnType<typeof listen>>, sockets: () => number) => Promise<void>,
): Promise<void> {
  const server = await listen(handler, limits)
  const before = openSockets()
  try {
    await test(server, () => openSockets() - before)
  } finally {
    await server.listener.close(0)
  }
}

const openSockets = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length

async function watching(session: ClientHttp2Session) {
  const stream = session.request({':path': '/watch'})
  stream.on('error', () => undefined)
  await once(stream, 'data')
  return stream
}

const ping = (session: ClientHttp2Session) =>
  new Promise<Error | null>((resolve) => session.ping((error) => resolve(error)))

describe('HTTP/2 connections', () => {
  for (const [name, bytes] of Object.entries(HTTP2_FLOODS)) {
    it(`are let go of when their caller has left after a flood of ${name}`, () =>
      serving({}, async ({port, ca, listener}, sockets) => {
        for (let count = 0; count < 3; count++) {
          const socket = await rawConnection({port, ca}, {ALPNProtocols: ['h2']})
          await pour(socket, bytes)
          socket.destroy()
        }
        await until(() => listener.openConnections === 0 && sockets() === 0)
      }))

    it(`are let go of after a flood of ${name} though no limit has ended it`, () =>
      serving({...QUICK, overheadFrames: NEVER}, async ({port, ca, listener}, sockets) => {
        const socket = await rawConnection({port, ca}, {ALPNProtocols: ['h2']})
        await pour(socket, bytes)
        socket.destroy()
        await until(() => listener.openConnections === 0 && sockets() === 0)
      }))
  }

  it('are closed if their caller gives no sign of life, whatever it watches', () =>
    serving(QUICK, async (server) => {
      const socket = await rawConnection(server, {ALPNProtocols: ['h2']})
      const closed = once(socket, 'close')
      socket.resume().write(Buffer.concat([HTTP2_PREFACE, http2Get('/watch')]))
      await closed
    }))

  it('stay open for a quiet watch whose caller is there', () =>
    serving(QUICK, async (server) => {
      const session = await session2(server)
      const stream = await watching(session)
      // For as long as three others last that are not there, one after the other.
      for (let count = 0; count < 3; count++) {
        const socket = await rawConnection(server, {ALPNProtocols: ['h2']})
        socket.resume().write(HTTP2_PREFACE)
        await once(socket, 'close')
      }
      assert.equal((await get2(session, '/more')).status, 200)
      assert.equal(stream.closed, false)
      session.destroy()
    }))

  it('are closed when they are idle, though their caller never closes its side', () =>
    serving({idleMilliseconds: 100, answerMilliseconds: 100}, async (server) => {
      const socket = await rawConnection(server, {ALPNProtocols: ['h2']})
      socket.pause().write(HTTP2_PREFACE)
      await until(() => server.listener.openConnections === 1)
      await until(() => server.listener.openConnections === 0)
      socket.destroy()
    }))

  it('are closed when they are idle, however often their caller pings', () =>
    serving({idleMilliseconds: 100, overheadFrames: NEVER}, async (server) => {
      const session = await session2(server)
      const closed = once(session, 'close')
      while (!session.destroyed) await ping(session).catch(() => undefined)
      await closed
    }))

  it('may ping, and take back requests, within a limit', () =>
    serving({overheadFrames: 50, overheadFramesPerSecond: 0}, async (server) => {
      const session = await session2(server)
      for (let count = 0; count < 20; count++) assert.equal(await ping(session), null)
      for (let count = 0; count < 20; count++) (await watching(session)).close(8)
      assert.equal((await get2(session, '/')).status, 200)
      const closed = once(session, 'close')
      for (let count = 0; count < 20 && !session.destroyed; count++)
        (await Promise.race([watching(session), closed.then(() => undefined)]))?.close(8)
      await closed
    }))

  it('take requests with headers as long as over HTTP/1.1, and no longer', () =>
    serving({}, async (place) => {
      const session = await session2(place)
      assert.equal((await get2(session, '/a', {accept: ';'.repeat(15_000)})).status, 200)
      for (const headers of [
        {accept: ';'.repeat(50_000)},
        {a: 'x'.repeat(9000), b: 'x'.repeat(9000)},
      ])
        await assert.rejects(get2(session, '/b', headers))
      await assert.rejects(get2(session, `/c?${'&a'.repeat(10_000)}`))
      assert.equal((await get2(session, '/d')).status, 200)
      session.destroy()
    }))

  it('are kept alive by TCP, so that a machine that was switched off is noticed', async function () {
    if (process.platform !== 'linux') this.skip()
    await serving({}, async (server) => {
      const socket = await rawConnection(server)
      const [local, remote] = [server.port, socket.localPort ?? 0].map((port) =>
        port.toString(16).toUpperCase().padStart(4, '0'),
      )
      // As proc(5) says: addresses, state, queues, then the timer that runs. 2 is the one that keeps alive.
      const timer = new RegExp(`:${local} \\w+:${remote} 01 \\w+:\\w+ 02:`)
      await until(async () => timer.test(await readFile('/proc/self/net/tcp', 'utf8')))
      socket.destroy()
    })
  })
})

describe('an HTTP/2 request', () => {
  const FAILING: Handler = ({path}) => {
    if (path === '/none') return Promise.reject(new Error('no response'))
    const body = (async function* () {
      yield await Promise.resolve('{')
      throw new Error('the caller may not read the rest')
    })()
    return Promise.resolve({status: 200, headers: {}, body, finite: true})
  }
  /** Has no room for anybody who waits. */
  class NoTurns extends ProcessorSlice {
    override take = () => false
    override serve = () => {
      throw new Error('others need the place')
    }
  }

  for (const [name, path, code, slice] of [
    ['whose response fails in the middle', '/', constants.NGHTTP2_INTERNAL_ERROR, undefined],
    ['that gets no response', '/none', constants.NGHTTP2_INTERNAL_ERROR, undefined],
    ['that loses its turn', '/', constants.NGHTTP2_REFUSED_STREAM, new NoTurns()],
  ] as const)
    it(`${name} is reset, and its connection goes on`, async () => {
      const server = await listen(FAILING, {}, slice)
      const session = await session2(server)
      const stream = session.request({':path': path}).resume()
      try {
        await assert.rejects(once(stream, 'close'), {code: 'ERR_HTTP2_STREAM_ERROR'})
        assert.equal(stream.rstCode, code)
        assert.equal(session.destroyed, false)
        await until(() => server.listener.heldBytes === 0)
      } finally {
        session.destroy()
        await server.listener.close(0)
      }
    }).timeout(5000)
})
