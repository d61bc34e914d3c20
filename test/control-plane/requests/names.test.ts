import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {resolveName} from '../../../src/control-plane/requests/names.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {makeRequest} from './support.ts'

describe('the name of a request', () => {
  let server: TestServer
  let client: ApiClient
  before(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
    for (const name of ['node-csr-abc', 'node-csr-abd', 'web', 'web-2'])
      await makeRequest(client, {name})
  })
  after(() => server.stop())

  for (const [given, meant] of [
    ['web', 'web'],
    ['csr/web', 'web'],
    ['certificatesigningrequest.certificates.k8s.io/web', 'web'],
    ['certificatesigningrequests/web', 'web'],
    ['web-', 'web-2'],
    ['csr/node-csr-abc', 'node-csr-abc'],
    ['absent', 'absent'],
    ['we', 'we'],
  ] as const) {
    it(`is "${meant}" for "${given}"`, async () => {
      assert.equal(await resolveName(client, given), meant)
    })
  }

  it('is asked for again if several begin with it', async () => {
    await assert.rejects(resolveName(client, 'node-csr'), {
      code: 'CONFLICT',
      message: '2 certificate requests begin with "node-csr"',
      suggestions: ['give more of the name: node-csr-abc, node-csr-abd'],
    })
  })
})
