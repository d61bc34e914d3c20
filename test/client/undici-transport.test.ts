import assert from 'node:assert/strict'
import {KeyObject} from 'node:crypto'
import type {RequestListener} from 'node:http'
import {createServer as createTcpServer} from 'node:net'
import {UndiciTransport, type TransportOptions} from '../../src/client/undici-transport.ts'
import type {ServerAccess} from '../../src/client/server-access.ts'
import {TrustError} from '../../src/errors.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {createIssuer} from '../../src/pki/issuer.ts'
import {encodePem} from '../../src/pki/pem.ts'
import {constantly} from '../../src/trust/live.ts'
import {CERT_SIGN, make} from '../pki/certificate-builder.ts'
import {
  around,
  DAY,
  from,
  issue,
  makeAuthority,
  type TestAuthority,
  type TestPair,
} from './support/certificates.ts'
import {Cleanup, listen, servePlain, serveTls} from './support/servers.ts'
import {eventually} from './support/wait.ts'

describe('UndiciTransport', () => {
  const cleanup = new Cleanup()
  let authority: TestAuthority
  let pair: TestPair

  before(async () => {
    authority = await makeAuthority()
    pair = await issue(authority)
  })
  afterEach(() => cleanup.run())

  const hello: RequestListener = (_request, response) => response.end('hello')

  async function transportTo(
    listener: RequestListener,
    {access = {}, options = {}, server = pair}: Setup = {},
  ) {
    const {url} = cleanup.add(await serveTls(server, listener))
    return {url, transport: open({server: url, ca: authority.pem, ...access}, options)}
  }

  interface Setup {
    access?: Partial<ServerAccess>
    options?: TransportOptions
    server?: TestPair
  }

  function open(access: ServerAccess, options: TransportOptions = {}): UndiciTransport {
    return cleanup.add(new UndiciTransport(constantly(access), {environment: {}, ...options}))
  }

  const get = {method: 'GET', path: '/version'}

  it('sends path, query, headers and body, and reads the answer', async () => {
    const {transport} = await transportTo((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString()
        response.setHeader('x-kind', 'test')
        response.end(JSON.stringify([request.method, request.url, request.headers['x-one'], body]))
      })
    })
    const {status, headers, body} = await transport.request({
      method: 'POST',
      path: '/api/v1/a%20b',
      query: new URLSearchParams({labelSelector: 'a=b'}),
      headers: {'x-one': '1'},
      body: Buffer.from('grüß'),
    })
    assert.deepEqual(JSON.parse(Buffer.from(body).toString()), [
      'POST',
      '/api/v1/a%20b?labelSelector=a%3Db',
      '1',
      'grüß',
    ])
    assert.equal(status, 200)
    assert.equal(headers['x-kind'], 'test')
  })

  it('puts the path of the server before every path', async () => {
    const {url} = cleanup.add(
      await serveTls(pair, (request, response) => response.end(request.url)),
    )
    const transport = open({server: `${url}/clusters/one/`, ca: authority.pem})
    const {body} = await transport.request(get)
    assert.equal(Buffer.from(body).toString(), '/clusters/one/version')
  })

  it('shows its client certificate', async () => {
    const client = await issue(authority, {name: 'admin', names: {}, usage: 'client auth'})
    const server = await serveTls(
      pair,
      (request, response) => {
        const {subject} = (request.socket as import('node:tls').TLSSocket).getPeerCertificate()
        response.end(subject.CN)
      },
      {requestCert: true, ca: authority.pem},
    )
    cleanup.add(server)
    const transport = open({server: server.url, ca: authority.pem, clientCertificate: client})
    const {body} = await transport.request(get)
    assert.equal(Buffer.from(body).toString(), 'admin')
  })

  it('asks for the bearer token before every request', async () => {
    const tokens = ['first', 'second']
    const {transport} = await transportTo(
      (request, response) => response.end(request.headers.authorization),
      {access: {bearerToken: () => Promise.resolve(tokens.shift())}},
    )
    const seen = [await transport.request(get), await transport.request(get)]
    assert.deepEqual(
      seen.map(({body}) => Buffer.from(body).toString()),
      ['Bearer first', 'Bearer second'],
    )
  })

  it('keeps a connection for the next request', async () => {
    const server = cleanup.add(await serveTls(pair, hello))
    const transport = open({server: server.url, ca: authority.pem})
    await transport.request(get)
    await transport.request(get)
    assert.equal(new Set(server.sockets.map(({remotePort}) => remotePort)).size, 1)
  })

  it('does not follow a redirect, nor send the token on', async () => {
    const thief: string[] = []
    const elsewhere = cleanup.add(
      await serveTls(pair, (request, response) => {
        thief.push(request.headers.authorization ?? '')
        response.end()
      }),
    )
    const {transport} = await transportTo(
      (_request, response) => {
        response.writeHead(307, {location: elsewhere.url})
        response.end()
      },
      {access: {bearerToken: () => Promise.resolve('secret')}},
    )
    assert.equal((await transport.request(get)).status, 307)
    assert.deepEqual(thief, [])
  })

  const distrusted: {name: string; says: RegExp; server: () => Promise<TestPair>}[] = [
    {
      name: 'of another CA',
      says: /no trusted CA has signed/,
      server: async () => issue(await makeAuthority('other')),
    },
    {
      name: 'of another CA of the same name',
      says: /no trusted CA has signed/,
      server: async () => issue(await makeAuthority()),
    },
    {
      name: 'that has expired',
      says: /has expired/,
      server: () => issue(authority, {validity: from(-2 * DAY, -DAY)}),
    },
    {
      name: 'that is not valid yet',
      says: /not valid yet/,
      server: () => issue(authority, {validity: from(DAY, 2 * DAY)}),
    },
    {
      name: 'for another host',
      says: /a certificate for DNS:other\.example, not for "127\.0\.0\.1"/,
      server: () => issue(authority, {names: {dns: ['other.example']}}),
    },
    {
      name: 'for clients',
      says: /is not for servers/,
      server: () => issue(authority, {usage: 'client auth'}),
    },
  ]
  for (const {name, says, server} of distrusted) {
    it(`refuses a server with a certificate ${name}, before anything is sent`, async () => {
      const requests: unknown[] = []
      const {transport, url} = await transportTo((request) => requests.push(request), {
        server: await server(),
        access: {bearerToken: () => Promise.resolve('secret')},
      })
      await assert.rejects(transport.request(get), (error: TrustError) => {
        assert.equal(error.code, 'SERVER_NOT_TRUSTED')
        assert.match(error.message, says)
        assert.ok(error.message.startsWith(url))
        assert.notEqual(error.suggestions.length, 0)
        return true
      })
      assert.deepEqual(requests, [])
    })
  }

  it('trusts any certificate where it is told not to check', async () => {
    const {url} = cleanup.add(await serveTls(await issue(await makeAuthority('other')), hello))
    const transport = open({server: url, insecure: true})
    assert.equal((await transport.request(get)).status, 200)
  })

  it('checks for the name that tls-server-name gives, and sends it as SNI', async () => {
    const names: string[] = []
    const {url} = cleanup.add(
      await serveTls(await issue(authority, {names: {dns: ['api.internal']}}), hello, {
        SNICallback: (name, done) => {
          names.push(name)
          done(null)
        },
      }),
    )
    const transport = open({server: url, ca: authority.pem, tlsServerName: 'api.internal'})
    assert.equal((await transport.request(get)).status, 200)
    assert.deepEqual(names, ['api.internal'])
  })

  it('takes a wildcard for a whole label only, as Go does', async () => {
    for (const [dns, status] of [
      ['*.example.com', 200],
      ['ba*.example.com', undefined],
      ['*r.example.com', undefined],
    ] as const) {
      const server = await issue(authority, {names: {dns: [dns]}})
      const access = {tlsServerName: 'bar.example.com'}
      const {transport} = await transportTo(hello, {server, access})
      const answer = transport.request(get)
      if (status === undefined) await assert.rejects(answer, {code: 'SERVER_NOT_TRUSTED'})
      else assert.equal((await answer).status, status)
    }
  })

  it('refuses a root that does not say that it is a CA, as Go does', async () => {
    const root = await make({
      name: 'CN=test-ca',
      hasConstraints: false,
      keyUsages: CERT_SIGN,
      ...around(DAY),
    })
    const pem = encodePem('CERTIFICATE', root.der)
    const key = KeyObject.from(root.keys.privateKey)
    const issuer = createIssuer(parseCertificate(pem), key)
    const {url} = cleanup.add(await serveTls(await issue({pem, issuer}), hello))
    await assert.rejects(open({server: url, ca: pem}).request(get), {
      code: 'SERVER_NOT_TRUSTED',
      message: /signed by a certificate that is not a CA/,
    })
  })

  it('does not take the common name of a certificate for a host', async () => {
    const server = await issue(authority, {name: 'api.internal', names: {}})
    const {transport} = await transportTo(hello, {server, access: {tlsServerName: 'api.internal'}})
    await assert.rejects(transport.request(get), {
      code: 'SERVER_NOT_TRUSTED',
      message: /no subject alternative names/,
    })
  })

  it('says that a port with plain HTTP does not speak TLS', async () => {
    const {port} = cleanup.add(await servePlain(hello))
    const transport = open({server: `https://127.0.0.1:${port}`, ca: authority.pem})
    await assert.rejects(transport.request(get), {
      code: 'SERVER_NOT_TLS',
      message: `https://127.0.0.1:${port} does not speak TLS on that port`,
    })
  })

  it('says that nothing listens', async () => {
    const server = await serveTls(pair, hello)
    await server.stop()
    const transport = open({server: server.url, ca: authority.pem})
    await assert.rejects(transport.request(get), {
      code: 'SERVER_UNREACHABLE',
      message: `${server.url} cannot be reached: nothing listens there`,
    })
  })

  it('says that a host name is not known', async () => {
    const transport = open({server: 'https://no-such-host.invalid:1', ca: authority.pem})
    await assert.rejects(transport.request(get), (error: TrustError) => {
      assert.equal(error.code, 'SERVER_UNREACHABLE')
      assert.match(error.message, /name (does not exist|cannot be resolved)/)
      return true
    })
  })

  it('says that an answer is not HTTP', async () => {
    const {createServer} = await import('node:tls')
    const server = createServer({cert: pair.certificate, key: pair.key}, (socket) => {
      socket.on('error', () => undefined)
      socket.end('SSH-2.0-nothing\r\n\r\n')
    })
    const {url} = cleanup.add(await listen(server, 'https'))
    await assert.rejects(open({server: url, ca: authority.pem}).request(get), {
      code: 'SERVER_ERROR',
      message: `${url} does not speak HTTP`,
    })
  })

  it('says that the connection was cut in the middle of an answer', async () => {
    const {transport, url} = await transportTo((_request, response) => {
      response.writeHead(200, {'content-length': '100'})
      response.write('half', () => response.destroy())
    })
    await assert.rejects(transport.request(get), {
      code: 'SERVER_UNREACHABLE',
      message: `${url} closed the connection`,
    })
  })

  it('gives up on a server that never answers', async () => {
    const {transport} = await transportTo(() => undefined, {options: {timeout: 50}})
    await assert.rejects(transport.request(get), {code: 'TIMED_OUT'})
  })

  it('gives up on a server that drips its answer', async () => {
    const {transport} = await transportTo(
      (_request, response) => {
        const timer = setInterval(() => response.write('x'), 10)
        response.on('close', () => clearInterval(timer))
      },
      {options: {timeout: 150}},
    )
    await assert.rejects(transport.request(get), {code: 'TIMED_OUT'})
  })

  it('gives up on a server that never ends the TLS handshake', async () => {
    const {port} = cleanup.add(await listen(createTcpServer(), 'tcp'))
    const transport = open({server: `https://127.0.0.1:${port}`, ca: authority.pem}, {timeout: 200})
    await assert.rejects(transport.request(get), {code: 'TIMED_OUT'})
  })

  it('stops reading an answer that is too large', async () => {
    let sent = 0
    const {transport} = await transportTo(
      (_request, response) => {
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) sent += 65_536
        }
        response.on('drain', more)
        more()
      },
      {options: {maxBodyBytes: 1_000_000}},
    )
    await assert.rejects(transport.request(get), {code: 'ANSWER_TOO_LARGE', message: /larger than/})
    assert.ok(sent < 50_000_000, `the server could send ${sent} bytes`)
  })

  it('ends with the reason of the signal', async () => {
    const {transport} = await transportTo(() => stop.abort(reason))
    const stop = new AbortController()
    const reason = new Error('enough')
    await assert.rejects(transport.request({...get, signal: stop.signal}), reason)
  })

  it('streams what arrives, beyond the time-out of requests', async () => {
    let end: () => void = () => undefined
    const {transport} = await transportTo(
      ({url}, response) => {
        if (url === '/never') return
        response.write('one')
        end = () => response.end('two')
      },
      {options: {timeout: 100}},
    )
    const stream = await transport.stream(get)
    // It began before a request whose time is over.
    await assert.rejects(transport.request({...get, path: '/never'}), {code: 'TIMED_OUT'})
    end()
    const chunks: string[] = []
    for await (const chunk of stream.body) chunks.push(Buffer.from(chunk).toString())
    assert.deepEqual(chunks, ['one', 'two'])
  })

  it('closes the connection of a stream that nobody reads', async () => {
    let closed = false
    const {transport} = await transportTo((_request, response) => {
      response.on('close', () => (closed = true))
      response.write('one')
    })
    const stream = await transport.stream(get)
    stream.close()
    await eventually(() => closed, 'the stream stayed open')
  })

  it('closes the connection of a stream that is left early', async () => {
    let closed = false
    const {transport} = await transportTo((_request, response) => {
      response.on('close', () => (closed = true))
      response.write('one')
    })
    const stream = await transport.stream(get)
    for await (const _chunk of stream.body) break
    await eventually(() => closed, 'the stream stayed open')
  })

  it('answers requests while many watches are open', async () => {
    const {transport} = await transportTo((request, response) => {
      if (request.url === '/watch') response.write('x')
      else response.end('hello')
    })
    const streams = await Promise.all(
      Array.from({length: 40}, () => transport.stream({method: 'GET', path: '/watch'})),
    )
    assert.equal((await transport.request(get)).status, 200)
    for (const stream of streams) stream.close()
  })

  it('watches on the connection of its requests where it does one thing at a time', async () => {
    const server = cleanup.add(await serveTls(pair, hello))
    const transport = open({server: server.url, ca: authority.pem}, {oneAtATime: true})
    await transport.request(get)
    await transport.request(get)
    const stream = await transport.stream({method: 'GET', path: '/watch'})
    for await (const chunk of stream.body) assert.equal(Buffer.from(chunk).toString(), 'hello')
    assert.equal(server.sockets.length, 1)
  })
})
