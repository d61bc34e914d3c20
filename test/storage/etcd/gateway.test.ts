import assert from 'node:assert/strict'
import {once} from 'node:events'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {Endpoints} from '../../../src/storage/etcd/endpoints.ts'
import {Gateway} from '../../../src/storage/etcd/gateway.ts'

describe('a request to etcd', () => {
  it('fails with the reason of the last attempt that was not cut short', async () => {
    let asked = 0
    const server = createServer((_request, response) => {
      asked += 1
      // Silent after the first.
      if (asked === 1) response.writeHead(503).end('{"code":14,"message":"etcdserver: no leader"}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const {port} = server.address() as AddressInfo
    const settings = {servers: [`http://127.0.0.1:${port}`], prefix: '/test'}
    const gateway = new Gateway(new Endpoints(settings, () => undefined), 2_000)
    await assert.rejects(gateway.call('kv/range', {}), {kind: 'unknown', message: /no leader$/})
    assert.equal(asked, 2)
    await gateway.close()
    server.closeAllConnections()
    server.close()
  })
})
