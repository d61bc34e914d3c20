import assert from 'node:assert/strict'
import {createServer as createTcpServer} from 'node:net'
import {httpsGet} from '../../src/client/https-get.ts'
import {peerCertificates} from '../../src/client/connector.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {issue, makeAuthority, type TestAuthority} from './support/certificates.ts'
import {Cleanup, listen, serveTls} from './support/servers.ts'

const LIMITS = {timeout: 2000, maxBytes: 1000, environment: {}}

describe('httpsGet', () => {
  const cleanup = new Cleanup()
  let authority: TestAuthority
  before(async () => {
    authority = await makeAuthority()
  })
  afterEach(() => cleanup.run())

  it('asks for the path and query as they are written, and leaves no connection behind', async () => {
    const asked: unknown[] = []
    const server = cleanup.add(
      await serveTls(await issue(authority), ({url, headers}, response) => {
        asked.push([url, headers.accept, headers.authorization])
        response.end('hello')
      }),
    )
    const url = new URL(`${server.url}/a%20b?sig=%2f+x`)
    const {status, body} = await httpsGet(url, {ca: authority.pem, accept: 'text/plain', ...LIMITS})
    assert.deepEqual([status, Buffer.from(body).toString()], [200, 'hello'])
    assert.deepEqual(asked, [['/a%20b?sig=%2f+x', 'text/plain', undefined]])
    const [socket] = server.sockets
    if (socket && !socket.destroyed) await new Promise((resolve) => socket.once('close', resolve))
  })

  it('hands a redirect over instead of following it', async () => {
    const {url} = cleanup.add(
      await serveTls(await issue(authority), (_request, response) =>
        response.writeHead(301, {location: '/elsewhere'}).end(),
      ),
    )
    assert.equal((await httpsGet(new URL(url), {ca: authority.pem, ...LIMITS})).status, 301)
  })

  it('trusts only the given CA, unless it is told not to look', async () => {
    const other = await makeAuthority('other')
    const {url} = cleanup.add(
      await serveTls(await issue(other), (_request, response) => response.end()),
    )
    await assert.rejects(httpsGet(new URL(url), {ca: authority.pem, ...LIMITS}), {
      code: 'SERVER_NOT_TRUSTED',
    })
    assert.equal((await httpsGet(new URL(url), {insecure: true, ...LIMITS})).status, 200)
  })

  it('stops at the size and at the time it was given', async () => {
    const {url} = cleanup.add(
      await serveTls(await issue(authority), ({url: path}, response) => {
        if (path === '/large') response.end('x'.repeat(1001))
      }),
    )
    const get = (path: string, timeout = 2000) =>
      httpsGet(new URL(path, url), {...LIMITS, insecure: true, timeout})
    await assert.rejects(get('/large'), {code: 'ANSWER_TOO_LARGE'})
    await assert.rejects(get('/silent', 100), {code: 'TIMED_OUT'})
  })
})

describe('peerCertificates', () => {
  const cleanup = new Cleanup()
  afterEach(() => cleanup.run())

  it('are what the server shows, its own first, whoever has signed it', async () => {
    const authority = await makeAuthority()
    const {certificate, key} = await issue(authority)
    const requests: unknown[] = []
    const {url} = cleanup.add(
      await serveTls({certificate: certificate + authority.pem, key}, (request) =>
        requests.push(request),
      ),
    )
    const shown = await peerCertificates(new URL(url), {timeout: 2000, environment: {}})
    assert.deepEqual(
      shown,
      [certificate, authority.pem].map((pem) => parseCertificate(pem).der),
    )
    assert.deepEqual(requests, [])
  })

  it('are not waited for without end', async () => {
    const {port} = cleanup.add(await listen(createTcpServer(), 'tcp'))
    await assert.rejects(
      peerCertificates(new URL(`https://127.0.0.1:${port}`), {timeout: 100, environment: {}}),
    )
  })
})
