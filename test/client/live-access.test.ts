import assert from 'node:assert/strict'
import type {IncomingMessage, ServerResponse} from 'node:http'
import {TLSSocket} from 'node:tls'
import type {ServerAccess} from '../../src/client/server-access.ts'
import {UndiciTransport} from '../../src/client/undici-transport.ts'
import {Replaceable} from '../../src/trust/live.ts'
import {issue, makeAuthority, type TestAuthority, type TestPair} from './support/certificates.ts'
import {Cleanup, serveTls, type RunningServer} from './support/servers.ts'
import {eventually} from './support/wait.ts'

describe('an access that changes while it is in use', () => {
  const cleanup = new Cleanup()
  let authority: TestAuthority
  let serving: TestPair
  let server: RunningServer
  let access: Replaceable<ServerAccess>
  let transport: UndiciTransport
  /** Responses that the test ends. */
  let held: ServerResponse[]

  const clientOf = ({socket}: IncomingMessage): string =>
    socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject.CN) : ''

  before(async () => {
    authority = await makeAuthority()
    serving = await issue(authority)
  })
  beforeEach(async () => {
    held = []
    server = cleanup.add(
      await serveTls(
        serving,
        (request, response) => {
          response.write(clientOf(request))
          if (request.url === '/held') held.push(response)
          else response.end()
        },
        {ca: authority.pem, requestCert: true},
      ),
    )
    access = new Replaceable(await accessOf('old'))
    transport = cleanup.add(new UndiciTransport(access, {environment: {}}))
  })
  afterEach(() => cleanup.run())

  const accessOf = async (name: string): Promise<ServerAccess> => ({
    server: server.url,
    ca: authority.pem,
    clientCertificate: await issue(authority, {name, names: {}, usage: 'client auth'}),
  })
  const get = async (path = '/'): Promise<string> =>
    Buffer.from((await transport.request({method: 'GET', path})).body).toString()

  it('is used by the next request, on a connection of its own', async () => {
    assert.equal(await get(), 'old')
    await access.replace(await accessOf('new'))
    assert.equal(await get(), 'new')
    assert.equal(server.sockets.length, 2)
  })

  it('closes the connections that were made before', async () => {
    await get()
    await access.replace(await accessOf('new'))
    await eventually(() => server.sockets[0]?.destroyed === true, 'the old one is still open')
  })

  it('lets a request in flight finish', async () => {
    const slow = get('/held')
    await eventually(() => held.length === 1, 'the request did not arrive')
    await access.replace(await accessOf('new'))
    assert.equal(await get(), 'new')
    held[0]?.end(' finished')
    assert.equal(await slow, 'old finished')
    await eventually(() => server.sockets[0]?.destroyed === true, 'the old one is still open')
  })

  it('ends a watch without an error', async () => {
    const {body} = await transport.stream({method: 'GET', path: '/held'})
    const read: string[] = []
    for await (const chunk of body) {
      read.push(Buffer.from(chunk).toString())
      await access.replace(await accessOf('new'))
    }
    assert.deepEqual(read, ['old'])
    await eventually(() => server.sockets[0]?.destroyed === true, 'the old one is still open')
  })

  it('may be another server', async () => {
    const other = cleanup.add(
      await serveTls(serving, (_request, response) => response.end('other')),
    )
    await access.replace({server: other.url, ca: authority.pem})
    assert.equal(await get(), 'other')
  })

  it('fails no request, however often it changes', async () => {
    const certificates = [await accessOf('one'), await accessOf('two')]
    let isOver = false
    let count = 0
    const traffic = Array.from({length: 4}, async () => {
      while (!isOver) {
        assert.match(await get(), /^(old|one|two)$/)
        count += 1
      }
    })
    for (let change = 0; change < 20; change += 1) {
      const before = count
      await access.replace(certificates[change % 2] ?? access.current)
      await eventually(() => count > before + 4, 'no request got through')
    }
    isOver = true
    await Promise.all(traffic)
  })
})
