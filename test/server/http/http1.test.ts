import assert from 'node:assert/strict'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import {until} from '../support.ts'
import {json, listen, rawConnection, untilClosed} from './support.ts'

const LARGE = 'x'.repeat(300_000)

describe('a malformed HTTP/1.1 request', () => {
  let server: Awaited<ReturnType<typeof listen>>
  let seen: string[] = []

  const handler: Handler = async ({path, body}) => {
    seen.push(path)
    const bytes = typeof body === 'function' ? await body() : body
    // All that was sent with the next request has been parsed when that one is there.
    if (path === '/slow') await until(() => seen.at(-1) !== path)
    if (path === '/large') return {status: 200, headers: {}, body: LARGE}
    return json({path, length: bytes.length})
  }

  before(async () => {
    server = await listen(handler)
  })
  beforeEach(() => (seen = []))
  after(() => server.listener.close(0))

  /** Everything that the server says to these bytes until it closes the connection. */
  async function say(...bytes: string[]): Promise<string> {
    const socket = await rawConnection(server)
    const all = untilClosed(socket)
    for (const one of bytes) socket.write(one)
    return all
  }

  const refused: [name: string, bytes: string, status: number][] = [
    ['without a Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['with two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n', 400],
    ['of HTTP/0.9', 'GET /\r\n\r\n', 505],
    ['with HTTP/0.9 in its line', 'GET / HTTP/0.9\r\nHost: x\r\n\r\n', 505],
    ['of HTTP/1.2', 'GET / HTTP/1.2\r\nHost: x\r\n\r\n', 400],
    ['of HTTP/2 in the form of HTTP/1', 'GET / HTTP/2.0\r\nHost: x\r\n\r\n', 505],
    ['of HTTP/3 in the form of HTTP/1', 'GET / HTTP/3.0\r\nHost: x\r\n\r\n', 400],
  ]
  for (const [name, bytes, status] of refused) {
    it(`${name} is refused, and nothing behind it is read`, async () => {
      const text = await say(`${bytes}GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`)
      assert.match(text, new RegExp(`^HTTP/1.1 ${status} `))
      assert.match(text, /^Connection: close\r$/m)
      assert.deepEqual(seen, [])
    })
  }

  it('is not one of HTTP/1.0, with or without a Host', async () => {
    assert.match(await say('GET /a HTTP/1.0\r\n\r\n'), /^HTTP\/1.1 200 /)
    assert.match(await say('GET /b HTTP/1.0\r\nHost: x\r\n\r\n'), /^HTTP\/1.1 200 /)
    assert.deepEqual(seen, ['/a', '/b'])
  })

  it('does not break the answers to the requests before it', async () => {
    const text = await say(
      'GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /large HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n',
      'more nonsense',
    )
    const [slow, large, refusal, ...more] = text.split(/(?=HTTP\/1.1 \d)/)
    assert.ok(slow?.endsWith('{"path":"/slow","length":0}'), slow)
    assert.ok(large?.endsWith(`\r\n\r\n${LARGE}`))
    assert.match(refusal ?? '', /^HTTP\/1.1 400 /)
    assert.deepEqual(more, [])
  })

  it('is answered once if only its body is malformed', async () => {
    const head = 'Host: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    const text = await say(
      `GET /slow HTTP/1.1\r\nHost: x\r\n\r\nPOST /broken HTTP/1.1\r\n${head}zzz\r\n`,
    )
    assert.match(text, /^HTTP\/1.1 200 .*\/slow.*HTTP\/1.1 400 /s)
    assert.doesNotMatch(text, /broken/)
  })

  it('after a request to upgrade does not keep the connection waiting', async () => {
    const upgrade = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
    const text = await say(
      `POST /upgrade HTTP/1.1\r\n${upgrade}Content-Length: 3\r\n\r\nabc`,
      'nonsense\r\n\r\n',
    )
    assert.match(text, /^HTTP\/1.1 200 /)
    assert.match(text, /^Connection: close\r$/m)
    assert.ok(text.endsWith('{"path":"/upgrade","length":3}'), text)
  })
})
