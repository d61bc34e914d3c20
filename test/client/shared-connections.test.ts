import assert from 'node:assert/strict'
import {connectTo} from '../../src/client/connect.ts'
import {httpsGet, type HttpsGetOptions} from '../../src/client/https-get.ts'
import type {ServerAccess} from '../../src/client/server-access.ts'
import {SharedConnections} from '../../src/client/shared-connections.ts'
import {issue, makeAuthority, type TestAuthority} from './support/certificates.ts'
import {Cleanup, serveTls, type RunningServer} from './support/servers.ts'

const LIMITS = {timeout: 2000, maxBytes: 1000, environment: {}}

describe('shared connections', () => {
  const cleanup = new Cleanup()
  let authority: TestAuthority
  let server: RunningServer
  let shared: SharedConnections
  const seen: (string | undefined)[] = []
  before(async () => {
    authority = await makeAuthority()
  })
  beforeEach(async () => {
    seen.length = 0
    server = cleanup.add(
      await serveTls(await issue(authority), ({headers}, response) => {
        seen.push(headers.authorization)
        response.setHeader('content-type', 'application/json')
        response.end('{"kind":"Node","apiVersion":"v1","metadata":{"name":"one"}}')
      }),
    )
    shared = cleanup.add(new SharedConnections())
  })
  afterEach(() => cleanup.run())

  const read = (more: Partial<HttpsGetOptions> = {}) =>
    httpsGet(new URL(server.url), {ca: authority.pem, shared, ...LIMITS, ...more})

  async function getNode(more: Partial<ServerAccess> = {}): Promise<void> {
    const access = {server: server.url, ca: authority.pem, ...more}
    const client = connectTo(access, {shared, environment: {}})
    try {
      await client.nodes.get('one')
    } finally {
      await client.close()
    }
  }

  it('are used by the next client, which alone sends its token', async () => {
    await read()
    await getNode({bearerToken: () => Promise.resolve('secret')})
    assert.deepEqual(seen, [undefined, 'Bearer secret'])
    assert.equal(server.sockets.length, 1)
  })

  it('are not used by a client that verifies the server by other CAs, or by another name', async () => {
    await read()
    const other = await makeAuthority('other')
    await getNode({ca: `${authority.pem}${other.pem}`})
    await assert.rejects(getNode({ca: other.pem}))
    await assert.rejects(getNode({tlsServerName: 'other.example'}))
    assert.equal(seen.length, 2)
    assert.ok(server.sockets.length > 2)
  })

  it('are not made by a read that verifies nothing', async () => {
    await read({insecure: true, ca: undefined})
    await getNode()
    assert.equal(server.sockets.length, 2)
  })

  it('are not used with a client certificate', async () => {
    const {certificate, key} = await issue(authority)
    await read()
    await getNode({clientCertificate: {certificate, key}})
    assert.equal(server.sockets.length, 2)
  })

  it('end when they are closed', async () => {
    await read()
    await shared.close()
    const [socket] = server.sockets
    if (socket && !socket.destroyed) await new Promise((resolve) => socket.once('close', resolve))
    await read()
    assert.equal(server.sockets.length, 2)
  })
})
