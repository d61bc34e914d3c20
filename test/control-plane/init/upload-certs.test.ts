import assert from 'node:assert/strict'
import {uploadCerts} from '../../../src/control-plane/init/upload-certs.ts'
import {CERTS_SECRET} from '../../../src/control-plane/shared-certs.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

describe('the upload of CAs', () => {
  let server: TestServer
  let fixture: PlaneFixture
  before(async () => {
    server = await startTestServer({controllers: false})
    const authorities = [{name: 'vpn-ca', signs: 'clients' as const}]
    fixture = await planeFixture({authorities})
    await fixture.provide('certs')
  })
  after(async () => {
    await fixture.remove()
    await server.stop()
  })

  it('leaves out those that no other machine reads, and says so', async () => {
    const client = server.clientAs(ADMIN)
    const warnings: string[] = []
    await uploadCerts.run({
      ...fixture.context,
      connect: () => Promise.resolve(client),
      warn: (line) => warnings.push(line),
    })
    const {data = {}} = await server.clientAs(ADMIN).secrets.get(CERTS_SECRET)
    const names = Object.keys(data)
    assert.ok(names.includes('ca.key') && names.includes('front-proxy-ca.crt'), names.join(' '))
    assert.deepEqual(
      names.filter((name) => name.startsWith('vpn-ca')),
      [],
    )
    assert.deepEqual(warnings, ['not uploaded, copy them yourself: the CAs vpn-ca'])
  })
})
