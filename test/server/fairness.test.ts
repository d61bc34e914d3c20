import assert from 'node:assert/strict'
import type {ClientHttp2Session, ClientHttp2Stream} from 'node:http2'
import {startTestServer, type Credentials, type TestServer} from '../helpers/test-server.ts'
import {get1, get2, session2} from './http/support.ts'
import {Api, until} from './support.ts'

const SERVICES = '/api/v1/services'
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'

/** Nodes may watch services by themselves; people are given that here. */
async function startFairServer(options: Parameters<typeof startTestServer>[0]) {
  const server = await startTestServer({controllers: false, ...options})
  const binding = {
    metadata: {name: 'everybody'},
    roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin'},
    subjects: [{apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'team'}],
  }
  await new Api(server.handler).post(`${RBAC}/clusterrolebindings`, binding)
  return server
}

const node = (server: TestServer, name: string) =>
  server.credentialsFor(`system:node:${name}`, ['system:nodes'])

const statusOf = (stream: ClientHttp2Stream) =>
  new Promise<number>((resolve, reject) => {
    stream.on('error', reject)
    stream.on('response', (headers) => resolve(Number(headers[':status'])))
  })

describe('slow uploads of a few identities', () => {
  let server: TestServer
  const sessions: ClientHttp2Session[] = []

  before(async () => {
    server = await startFairServer({
      limits: {requests: {inFlight: 6, inFlightPerIdentity: 2, waitMilliseconds: 0}},
    })
  })
  after(async () => {
    for (const session of sessions) session.destroy()
    await server.stop()
  })

  it('take no slots from others: a slot counts from when the body is there', async () => {
    const uploads: ClientHttp2Stream[] = []
    for (const name of ['mallory-1', 'mallory-2', 'mallory-3']) {
      const session = await session2(server, await server.credentialsFor(name, ['team']))
      sessions.push(session)
      for (let count = 0; count < 20; count++) {
        const stream = session.request({
          ':method': 'POST',
          ':path': CONFIGMAPS,
          'content-type': 'application/json',
        })
        stream.on('error', () => undefined)
        stream.write(`{"metadata":{"name":"${name}-${count}"},"data":{"a":"`)
        uploads.push(stream)
      }
      // The connection answers in order of arrival: what was begun before has been seen by the server.
      assert.equal((await get2(session, '/version')).status, 200)
    }
    for (const credentials of [
      await server.credentialsFor('ann', ['team']),
      await server.credentialsFor('mallory-1', ['team']),
    ]) {
      assert.equal((await get1(server, CONFIGMAPS, {credentials})).status, 200)
    }
    const created = await get1(server, CONFIGMAPS, {
      method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: '{"metadata":{"name":"honest"}}',
      credentials: await server.credentialsFor('ann', ['team']),
    })
    assert.equal(created.status, 201)
    const finished = uploads.slice(0, 2).map(async (stream) => {
      stream.end('"}}')
      return statusOf(stream)
    })
    assert.deepEqual(await Promise.all(finished), [201, 201])
  })
})

describe('large uploads that never end', () => {
  it('take no more memory than there is for them, and give way to others', async () => {
    const server = await startFairServer({
      limits: {requests: {uploadBytes: 1024 * 1024, uploadBytesPerIdentity: 1024 * 1024}},
    })
    const session = await session2(server, await server.credentialsFor('mallory', ['team']))
    const statuses: number[] = []
    for (let count = 0; count < 4; count++) {
      const stream = session.request({
        ':method': 'POST',
        ':path': CONFIGMAPS,
        'content-type': 'application/json',
      })
      stream.on('response', (headers) => statuses.push(Number(headers[':status'])))
      stream.on('error', () => undefined)
      stream.write('x'.repeat(400_000))
    }
    await until(() => statuses.includes(429))
    const credentials = await server.credentialsFor('ann', ['team'])
    const body = JSON.stringify({metadata: {name: 'large'}, data: {a: 'y'.repeat(200_000)}})
    const headers = {'Content-Type': 'application/json'}
    const answer = await get1(server, CONFIGMAPS, {method: 'POST', headers, body, credentials})
    assert.equal(answer.status, 201)
    session.destroy()
    await server.stop()
  })
})

describe('long answers that nobody reads', () => {
  it('take no more memory than there is for them, and give way to others', async () => {
    const server = await startFairServer({
      limits: {requests: {answerBytes: 1024 * 1024, answerBytesPerIdentity: 1024 * 1024}},
    })
    const large = {metadata: {name: 'large'}, data: {a: 'y'.repeat(300_000)}}
    await new Api(server.handler).post(CONFIGMAPS, large)
    const session = await session2(server, await server.credentialsFor('mallory', ['team']))
    const statuses: number[] = []
    const streams = Array.from({length: 10}, () =>
      session.request({':path': `${CONFIGMAPS}/large`}),
    )
    for (const stream of streams) {
      stream.on('response', (headers) => statuses.push(Number(headers[':status'])))
      stream.on('error', () => undefined)
      stream.pause()
    }
    await until(() => statuses.length === 10)
    assert.equal(statuses.filter((status) => status === 200).length, 3)
    assert.equal(statuses.filter((status) => status === 429).length, 7)
    const credentials = await server.credentialsFor('ann', ['team'])
    const answer = await get1(server, `${CONFIGMAPS}/large`, {credentials})
    assert.equal(answer.status, 200)
    assert.ok(answer.text.length > 300_000)
    const lengths = await Promise.all(
      streams.map(async (stream) => {
        let length = 0
        stream.on('data', (chunk: Buffer) => (length += chunk.length))
        stream.resume()
        await new Promise((resolve) => stream.on('close', resolve))
        return length
      }),
    )
    assert.equal(lengths.filter((length) => length > 300_000).length, 2)
    session.destroy()
    await server.stop()
  })
})

describe('five identities with 400 watches each', () => {
  let server: TestServer
  const sessions: ClientHttp2Session[] = []

  before(async () => {
    server = await startFairServer({limits: {requests: {watches: 2000}}})
  })
  after(async () => {
    for (const session of sessions) session.destroy()
    await server.stop()
  })

  async function watch(credentials: Credentials) {
    const session = await session2(server, credentials)
    sessions.push(session)
    const stream = session.request({':path': `${SERVICES}?watch=true`})
    stream.on('error', () => undefined).resume()
    return {stream, status: await statusOf(stream)}
  }

  it('leave everybody else working, and lose watches to whoever has fewer', async () => {
    let ended = 0
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const credentials = await node(server, name)
      for (let connection = 0; connection < 8; connection++) {
        const session = await session2(server, credentials)
        sessions.push(session)
        const opened = Array.from({length: 50}, () => {
          const stream = session.request({':path': `${SERVICES}?watch=true&resourceVersion=0`})
          stream.resume().on('end', () => ended++)
          return statusOf(stream)
        })
        assert.ok((await Promise.all(opened)).every((status) => status === 200))
      }
    }
    assert.equal(ended, 0)
    const honest = [
      await node(server, 'honest'),
      await server.credentialsFor('ann', ['team']),
      await server.credentialsFor('root', ['system:masters']),
    ]
    for (const credentials of honest) {
      assert.equal((await watch(credentials)).status, 200)
      assert.equal((await get1(server, SERVICES, {credentials})).status, 200)
    }
    await until(() => ended === 2)
    const again = await get1(server, `${SERVICES}?watch=true`, {
      credentials: await node(server, 'e'),
    })
    assert.equal(again.status, 429)
  }).timeout(60_000)
})

describe('large bodies of many identities', () => {
  let server: TestServer

  before(async () => {
    server = await startFairServer({limits: {requests: {waitMilliseconds: 0}}})
  })
  after(() => server.stop())

  it('are worked on one at a time, and small ones need not wait for them', async () => {
    const labels = Object.fromEntries(Array.from({length: 40_000}, (_, n) => [`label-${n}`, 'x']))
    await flood('application/json', JSON.stringify({metadata: {name: 'large', labels}}))
  })

  it('are those of some kilobytes too if they are YAML, which costs as much', () =>
    flood('application/yaml', `data: [${'x, '.repeat(6000)}]`))

  async function flood(type: string, large: string): Promise<void> {
    const post = async (name: string, body: string, contentType = 'application/json') => {
      const credentials = await server.credentialsFor(name, ['team'])
      const headers = {'Content-Type': contentType}
      return (await get1(server, CONFIGMAPS, {method: 'POST', headers, body, credentials})).status
    }
    const names = Array.from({length: 8}, (_, number) => `mallory-${number}`)
    const floods = Promise.all(names.map((name) => post(name, large, type)))
    const small = names.map((_, number) =>
      post('ann', JSON.stringify({metadata: {generateName: `small-${number}-`}})),
    )
    assert.ok((await Promise.all(small)).every((status) => status === 201))
    assert.ok((await floods).includes(429), String(await floods))
  }
})
