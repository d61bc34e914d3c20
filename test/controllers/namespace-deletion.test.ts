import assert from 'node:assert/strict'
import {namespaceDeletionController} from '../../src/controllers/namespace-deletion.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

describe('a namespace that is deleted', () => {
  let server: TestServer
  let client: ApiClient
  let time: number

  before(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
  })
  after(() => server.stop())
  beforeEach(() => (time = 0))

  const {signal} = new AbortController()
  const controller = (isShared: boolean) =>
    namespaceDeletionController(client, client, {isShared, now: () => time})
  const put = (namespace: string, name: string) =>
    client.secrets.create({metadata: {namespace, name}})
  const secretsIn = async (namespace: string) =>
    (await client.secrets.list({namespace})).items.map(({metadata}) => metadata.name)

  async function deleted(name: string) {
    await client.namespaces.create({metadata: {name}})
    await put(name, 'before')
    await client.namespaces.delete(name)
  }

  it('is left alone for five seconds by our own watch if other servers may still create in it', async () => {
    await deleted('shared')
    const {reconcile} = controller(true)
    assert.deepEqual(await reconcile('shared', signal), {requeueAfter: 5000})
    time = 4000
    assert.deepEqual(await reconcile('shared', signal), {requeueAfter: 1000})
    assert.deepEqual(await secretsIn('shared'), ['before'])
    time = 5000
    await reconcile('shared', signal)
    assert.equal(await client.namespaces.find('shared'), undefined)
    assert.deepEqual(await secretsIn('shared'), [])

    // It is gone: one of the same name gets the same time.
    await reconcile('shared', signal)
    await deleted('shared')
    assert.deepEqual(await reconcile('shared', signal), {requeueAfter: 5000})
  })

  it('is emptied at once if there is no other server', async () => {
    await deleted('single')
    await controller(false).reconcile('single', signal)
    assert.equal(await client.namespaces.find('single'), undefined)
    assert.deepEqual(await secretsIn('single'), [])
  })
})
