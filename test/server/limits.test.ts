import assert from 'node:assert/strict'
import {once} from 'node:events'
import {startTestServer, type TestServer} from '../helpers/test-server.ts'
import {get1, get2, rawConnection, session2} from './http/support.ts'
import {until} from './support.ts'

const WATCH = '/api/v1/namespaces/default/configmaps?watch=true'

describe('limits of one caller', () => {
  let server: TestServer

  before(async () => {
    server = await startTestServer({
      controllers: false,
      limits: {
        requests: {
          watchesPerIdentity: 3,
          anonymousBurst: 3,
          anonymousPerSecond: 0.01,
          refusedBurst: 2,
          refusedPerSecond: 0.01,
        },
      },
    })
  })
  after(() => server.stop())

  it('cap its watches with 429 and Retry-After, and give the places back', async () => {
    const credentials = await server.credentialsFor('admin', ['system:masters'])
    const session = await session2(server, credentials)
    const open = () => {
      const stream = session.request({':path': WATCH})
      stream.on('error', () => undefined).resume()
      return new Promise<{status: number; close: () => void}>((resolve) =>
        stream.on('response', (headers) =>
          resolve({status: Number(headers[':status']), close: () => stream.close()}),
        ),
      )
    }
    const watches = [await open(), await open(), await open()]
    assert.deepEqual(
      watches.map(({status}) => status),
      [200, 200, 200],
    )
    const refused = await get2(session, WATCH)
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '1'])
    assert.equal((JSON.parse(refused.text) as {reason: string}).reason, 'TooManyRequests')
    assert.equal((await get2(session, '/api/v1/namespaces')).status, 200)

    watches[0]?.close()
    await until(async () => {
      const {status, close} = await open()
      if (status !== 200) return false
      close()
      return true
    })
    session.destroy()
  })

  it('count a watch with long headers or a long selector as several', async () => {
    const credentials = await server.credentialsFor('admin', ['system:masters'])
    const session = await session2(server, credentials)
    const selector = `a in (${Array.from({length: 900}, (_, number) => `v${number}`).join(',')})`
    const large = session.request({
      ':path': `${WATCH}&labelSelector=${encodeURIComponent(selector)}`,
    })
    large.on('error', () => undefined).resume()
    const [headers] = (await once(large, 'response')) as [Record<string, unknown>]
    assert.equal(headers[':status'], 200)
    assert.equal((await get2(session, WATCH)).status, 429)
    const closed = once(large, 'close')
    large.close()
    await closed
    session.destroy()
  })

  it('are not used up by watches that are left before they begin', async () => {
    const credentials = await server.credentialsFor('admin', ['system:masters'])
    const request = `GET ${WATCH} HTTP/1.1\r\nHost: x\r\n\r\n`
    for (let count = 0; count < 20; count++) {
      const socket = await rawConnection(server, {
        cert: credentials.certificate,
        key: credentials.key,
      })
      socket.write(request)
      if (count % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
      socket.destroy()
    }
    const session = await session2(server, credentials)
    for (let count = 0; count < 20; count++) {
      const stream = session.request({':path': WATCH})
      stream.on('error', () => undefined)
      stream.close(8)
    }
    await until(async () => {
      const {text} = await get2(session, '/metrics')
      return /^apiserver_longrunning_requests\{[^}]*configmaps[^}]*\} 0$/m.test(text)
    })
    const stream = session.request({':path': WATCH})
    const status = await new Promise((resolve) =>
      stream.on('response', (headers) => resolve(headers[':status'])),
    )
    assert.equal(status, 200)
    session.destroy()
  })

  it('slow down who has no credentials, or wrong ones, by address', async () => {
    const codes = []
    for (let count = 0; count < 5; count++) {
      const headers = count % 2 === 0 ? {} : {Authorization: 'Bearer nonsense'}
      codes.push((await get1(server, '/version', {headers})).status)
    }
    assert.deepEqual(codes, [200, 401, 200, 401, 200])
    for (const headers of [{}, {Authorization: 'Bearer nonsense'}] as Record<string, string>[]) {
      const {status, headers: answered} = await get1(server, '/version', {headers})
      assert.equal(status, 429)
      assert.ok(Number(answered['retry-after']) >= 1)
    }
    const refused = await get1(server, '/api/v1/secrets')
    assert.equal(refused.status, 429)
    const credentials = await server.credentialsFor('ann', [])
    assert.equal((await get1(server, '/version', {credentials})).status, 200)
  })
})
