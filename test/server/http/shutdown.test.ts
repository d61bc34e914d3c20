import assert from 'node:assert/strict'
import {once} from 'node:events'
import {connect} from 'node:net'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import {until} from '../support.ts'
import {get1, get2, json, listen, rawConnection, session2, untilClosed} from './support.ts'

/** Longer than any machine needs, however busy it is. */
const GRACE = 600_000

let begun = 0
let finishSlow: () => void
let slow: Promise<void>

/** `/slow` runs until the test lets it finish, `/watch` until it is stopped. */
const handler: Handler = async ({path, signal}) => {
  begun++
  if (path === '/slow') await slow
  if (path !== '/watch') return json({path})
  const body = (async function* () {
    yield '{"type":"ADDED"}\n'
    if (!signal.aborted) await once(signal, 'abort')
  })()
  return {status: 200, headers: {'Content-Type': 'application/json'}, body}
}

describe('a listener that closes', () => {
  beforeEach(() => {
    begun = 0
    slow = new Promise((resolve) => (finishSlow = resolve))
  })

  it('lets requests in flight finish, over both protocols', async () => {
    const server = await listen(handler)
    const session = await session2(server)
    const answers = [get1(server, '/slow'), get2(session, '/slow')]
    await until(() => begun === 2)
    const closing = server.listener.close(GRACE)
    finishSlow()
    for (const {status, text} of await Promise.all(answers))
      assert.deepEqual([status, text], [200, '{"path":"/slow"}'])
    await closing
  })

  it('ends watches cleanly: the stream has an end, and is not cut', async () => {
    const server = await listen(handler)
    const session = await session2(server)
    const watches = [get1(server, '/watch'), get2(session, '/watch')]
    await until(() => begun === 2)
    const closing = server.listener.close(GRACE)
    for (const {status, text} of await Promise.all(watches))
      assert.deepEqual([status, text], [200, '{"type":"ADDED"}\n'])
    await closing
  })

  it('closes what is idle or has not finished its handshake, and refuses new connections', async () => {
    const server = await listen(handler)
    const idle = await rawConnection(server)
    const half = connect(server.port, '127.0.0.1')
    half.on('error', () => undefined)
    await once(half, 'connect')
    const session = await session2(server)
    const ended = [once(idle, 'close'), once(half, 'close'), once(session, 'close')]
    idle.resume()
    half.resume()
    await server.listener.close(GRACE)
    await Promise.all(ended)
    await assert.rejects(get1(server, '/'), {code: 'ECONNREFUSED'})
    assert.equal(server.listener.openConnections, 0)
  })

  it('does not wait longer than its grace for who does not finish', async () => {
    let aborted = false
    const never: Handler = async ({signal}) => {
      begun++
      signal.addEventListener('abort', () => (aborted = true))
      await new Promise(() => undefined)
      return json({})
    }
    const server = await listen(never)
    const socket = await rawConnection(server)
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => begun === 1)
    await server.listener.close(50)
    assert.equal(await untilClosed(socket), '')
    assert.equal(aborted, true)
  })

  it('says so when its port is taken', async () => {
    const server = await listen(handler)
    const {Listener} = await import('../../../src/server/http/listener.ts')
    const {servingMaterial} = await import('./support.ts')
    const tls = await servingMaterial()
    await assert.rejects(Listener.start({handler, host: '127.0.0.1', port: server.port, tls}), {
      code: 'PORT_IN_USE',
    })
    await server.listener.close(0)
  })
})
