import assert from 'node:assert/strict'
import {Agent, request as httpsRequest} from 'node:https'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import {StatusError} from '../../../src/server/kernel/status.ts'
import {get1, get2, json, listen, rawConnection, session2, untilClosed} from './support.ts'

const KIB = 1024

/** Returns the length of the body; under /refused without reading it. */
const handler: Handler = async ({path, body}) => {
  if (path === '/refused') return json({}, 403)
  try {
    const bytes = typeof body === 'function' ? await body() : body
    return json({length: bytes.length})
  } catch (error) {
    if (error instanceof StatusError) return json(error.status, error.code)
    throw error
  }
}

describe('request bodies', () => {
  let server: Awaited<ReturnType<typeof listen>>

  before(async () => {
    server = await listen(handler, {bodyBytes: 64 * KIB, bodyMilliseconds: 300})
  })
  after(() => server.listener.close(0))

  it('arrive whole up to the limit, over both protocols', async () => {
    const body = Buffer.alloc(64 * KIB)
    const one = await get1(server, '/', {method: 'POST', body})
    assert.equal(one.text, JSON.stringify({length: body.length}))
    const session = await session2(server)
    const two = await get2(session, '/', {':method': 'POST'}, body)
    assert.equal(two.text, JSON.stringify({length: body.length}))
    session.close()
  })

  it('take no more than twice their size, also where they come byte by byte', async () => {
    let taken = 0
    const metered = await listen(async ({body}) => {
      const {signal} = new AbortController()
      const bytes = body as Exclude<typeof body, Uint8Array>
      return json({
        length: (await bytes({take: (count) => void (taken += count), maxBytes: Infinity, signal}))
          .length,
      })
    })
    const session = await session2(metered)
    const stream = session.request({':method': 'POST', ':path': '/'})
    for (let count = 0; count < 5000; count++) {
      stream.write('x')
      if (count % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    stream.end()
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    assert.equal(text, JSON.stringify({length: 5000}))
    assert.ok(taken >= 5000 && taken <= 10_000, `${taken} bytes`)
    session.close()
    await metered.listener.close(0)
  })

  it('are refused with 413 where they say that they are longer, before a byte is read', async () => {
    const socket = await rawConnection(server)
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${64 * KIB + 1}\r\n\r\n`)
    const first = await new Promise<string>((resolve) =>
      socket.once('data', (chunk: Buffer) => resolve(chunk.toString())),
    )
    assert.match(first, /^HTTP\/1.1 413 /)
    assert.match(first, /"reason":"RequestEntityTooLarge"/)
    socket.destroy()
  })

  it('are refused with 413 where they turn out longer', async () => {
    const {status} = await get1(server, '/', {
      method: 'POST',
      headers: {'Transfer-Encoding': 'chunked'},
      body: Buffer.alloc(200 * KIB),
    })
    assert.equal(status, 413)
    const session = await session2(server)
    const two = await get2(session, '/', {':method': 'POST'}, Buffer.alloc(200 * KIB))
    assert.equal(two.status, 413)
    session.close()
  })

  it('that come too slowly are answered 408', async () => {
    const socket = await rawConnection(server)
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')
    const text = await new Promise<string>((resolve) =>
      socket.once('data', (chunk: Buffer) => resolve(chunk.toString())),
    )
    assert.match(text, /^HTTP\/1.1 408 /)
    // What is still missing is not waited for either.
    await untilClosed(socket)
  })

  it('that nobody reads pass by, and the connection serves the next request', async () => {
    const agent = new Agent({keepAlive: true, maxSockets: 1})
    const body = Buffer.alloc(60 * KIB)
    const refused = await get1(server, '/refused', {method: 'POST', body, agent})
    assert.equal(refused.status, 403)
    const next = await get1(server, '/', {method: 'POST', body: 'abc', agent})
    assert.equal(next.text, '{"length":3}')
    agent.destroy()
  })

  it('without an end cost their caller the connection', async () => {
    const request = httpsRequest({
      host: '127.0.0.1',
      port: server.port,
      ca: server.ca,
      path: '/refused',
      method: 'POST',
      agent: false,
    })
    let status: number | undefined
    request.on('response', (response) => {
      status = response.statusCode
      response.resume()
    })
    request.on('error', () => undefined)
    const closed = new Promise<void>((resolve) => request.on('close', () => resolve()))
    const piece = Buffer.alloc(16 * KIB)
    const pour = setInterval(() => request.write(piece), 1)
    await closed
    clearInterval(pour)
    assert.equal(status, 403)
  })

  it('without an end cost an HTTP/2 caller its stream, not its connection', async () => {
    const session = await session2(server)
    const stream = session.request({':method': 'POST', ':path': '/refused'})
    stream.on('error', () => undefined)
    stream.resume()
    const piece = Buffer.alloc(16 * KIB)
    const pour = setInterval(() => {
      if (!stream.destroyed) stream.write(piece)
    }, 1)
    await new Promise<void>((resolve) => stream.on('close', () => resolve()))
    clearInterval(pour)
    const {text} = await get2(session, '/', {':method': 'POST'}, 'abc')
    assert.equal(text, '{"length":3}')
    session.close()
  })
})
