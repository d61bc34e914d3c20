import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'

describe('a namespace that is deleted', () => {
  let server: TestServer
  let client: ApiClient

  before(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
    await client.namespaces.create({metadata: {name: 'full'}})
    await client.namespaces.delete('full')
  })

  after(() => server.stop())

  it('stays until its finalizers are gone, and shows that it ends', async () => {
    const {metadata, spec, status} = await client.namespaces.get('full')
    assert.ok(metadata.deletionTimestamp)
    assert.equal(metadata.deletionGracePeriodSeconds, undefined)
    assert.deepEqual(spec, {finalizers: ['kubernetes']})
    assert.equal(status?.phase, 'Terminating')
  })

  it('takes nothing new', async () => {
    const late = client.configMaps.create({metadata: {namespace: 'full', name: 'late'}})
    await assert.rejects(late, /being terminated/)
  })

  it('goes when it is finalized', async () => {
    const namespace = await client.namespaces.get('full')
    await client.namespaces.updateSubresource('finalize', {...namespace, spec: {finalizers: []}})
    assert.equal(await client.namespaces.find('full'), undefined)
  })
})
