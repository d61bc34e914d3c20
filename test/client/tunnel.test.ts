import assert from 'node:assert/strict'
import {createServer} from 'node:http'
import {connect} from 'node:net'
import {parseProxy} from '../../src/client/tunnel.ts'
import {UndiciTransport} from '../../src/client/undici-transport.ts'
import {TrustError} from '../../src/errors.ts'
import {constantly} from '../../src/trust/live.ts'
import {issue, makeAuthority, type TestAuthority} from './support/certificates.ts'
import {Cleanup, listen, servePlain, serveTls, type RunningServer} from './support/servers.ts'

describe('a proxy', () => {
  const cleanup = new Cleanup()
  const targets: string[] = []
  const authorizations: (string | undefined)[] = []
  let authority: TestAuthority
  let server: RunningServer

  beforeEach(async () => {
    targets.length = 0
    authorizations.length = 0
    authority = await makeAuthority()
    const pair = await issue(authority, {names: {dns: ['api.example']}})
    server = cleanup.add(
      await serveTls(pair, (request, response) => response.end(request.headers.host)),
    )
  })
  afterEach(() => cleanup.run())

  /** Takes every name for the test's own server, as a proxy that alone knows the name. */
  async function startProxy(answer = 'HTTP/1.1 200 Connected\r\n\r\n'): Promise<RunningServer> {
    const proxy = createServer((_request, response) => response.writeHead(405).end())
    proxy.on('connect', (request, socket) => {
      targets.push(request.url ?? '')
      authorizations.push(request.headers['proxy-authorization'])
      if (!answer.startsWith('HTTP/1.1 200')) return socket.end(answer)
      const onward = connect(server.port, '127.0.0.1')
      socket.on('error', () => onward.destroy()).on('close', () => onward.destroy())
      onward.on('error', () => socket.destroy()).on('close', () => socket.destroy())
      socket.write(answer)
      socket.pipe(onward).pipe(socket)
    })
    return cleanup.add(await listen(proxy, 'http'))
  }

  function transportBy(environment: Record<string, string>, proxyUrl?: string): UndiciTransport {
    return cleanup.add(
      new UndiciTransport(
        constantly({server: 'https://api.example:6443', ca: authority.pem, proxyUrl}),
        {environment},
      ),
    )
  }

  const get = {method: 'GET', path: '/version'}

  it('of the environment is asked for a tunnel, in which TLS is checked end to end', async () => {
    const proxy = await startProxy()
    const {body} = await transportBy({HTTPS_PROXY: proxy.url}).request(get)
    assert.equal(Buffer.from(body).toString(), 'api.example:6443')
    assert.deepEqual(targets, ['api.example:6443'])
  })

  it('of the kubeconfig wins over NO_PROXY and the environment', async () => {
    const proxy = await startProxy()
    const environment = {HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '*'}
    const {status} = await transportBy(environment, proxy.url).request(get)
    assert.equal(status, 200)
  })

  it('gets the name and the password of its URL', async () => {
    const proxy = await startProxy()
    const url = proxy.url.replace('http://', 'http://user:p%40ss@')
    await transportBy({HTTPS_PROXY: url}).request(get)
    assert.deepEqual(authorizations, [`Basic ${Buffer.from('user:p@ss').toString('base64')}`])
  })

  it('cannot stand in for the server', async () => {
    const proxy = await startProxy()
    const other = await makeAuthority('other')
    const transport = cleanup.add(
      new UndiciTransport(constantly({server: 'https://api.example:6443', ca: other.pem}), {
        environment: {HTTPS_PROXY: proxy.url},
      }),
    )
    await assert.rejects(transport.request(get), {code: 'SERVER_NOT_TRUSTED'})
  })

  it('in front of a server with another name in its certificate changes nothing', async () => {
    const proxy = await startProxy()
    const transport = cleanup.add(
      new UndiciTransport(constantly({server: 'https://wrong.example:6443', ca: authority.pem}), {
        environment: {HTTPS_PROXY: proxy.url},
      }),
    )
    await assert.rejects(transport.request(get), {
      code: 'SERVER_NOT_TRUSTED',
      message: /for DNS:api\.example, not for "wrong\.example"/,
    })
  })

  it('that refuses is named, its password is not', async () => {
    const proxy = await startProxy('HTTP/1.1 407 Who are you\r\n\r\n')
    const url = proxy.url.replace('http://', 'http://user:hunter2@')
    await assert.rejects(transportBy({HTTPS_PROXY: url}).request(get), (error: TrustError) => {
      assert.equal(error.code, 'SERVER_UNREACHABLE')
      assert.match(error.message, /the proxy 127\.0\.0\.1:\d+ refused .* \(status 407\)/)
      assert.match(error.suggestions.join(), /password/)
      assert.equal(
        JSON.stringify([error.message, error.suggestions, error.facts]).includes('hunter2'),
        false,
      )
      return true
    })
  })

  it('that does not run is said to be the problem', async () => {
    const gone = await servePlain(() => undefined)
    await gone.stop()
    await assert.rejects(transportBy({HTTPS_PROXY: gone.url}).request(get), {
      code: 'SERVER_UNREACHABLE',
      message: /the proxy 127\.0\.0\.1:\d+ cannot be reached/,
    })
  })

  it('that never answers is given up', async () => {
    const {createServer: createTcpServer} = await import('node:net')
    const silent = cleanup.add(await listen(createTcpServer(), 'http'))
    const transport = cleanup.add(
      new UndiciTransport(constantly({server: 'https://api.example:6443', ca: authority.pem}), {
        environment: {HTTPS_PROXY: silent.url},
        connectTimeout: 50,
      }),
    )
    await assert.rejects(transport.request(get), {code: 'SERVER_UNREACHABLE', message: /the proxy/})
  })

  for (const text of ['socks5://user:hunter2@proxy:1080', 'not a url hunter2']) {
    it(`given as ${text.split(':')[0] ?? ''} is refused without being echoed`, () => {
      assert.throws(
        () => parseProxy(text),
        (error: TrustError) =>
          error.code === 'KUBECONFIG_INVALID' && !String(error).includes('hunter2'),
      )
    })
  }
})
