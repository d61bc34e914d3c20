import assert from 'node:assert/strict'
import type {ClientHttp2Session} from 'node:http2'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {rawConnection, session2} from '../http/support.ts'
import {Api, until} from '../support.ts'

const WATCH = '/api/v1/services?watch=true'

describe('metrics of limits', () => {
  let server: TestServer
  before(async () => {
    server = await startTestServer({
      controllers: false,
      limits: {http: {connections: 4}, requests: {watches: 4, watchesPerIdentity: 4}},
    })
  })
  after(() => server.stop())

  /** The value of a line of /metrics. */
  const read = async (line: string): Promise<number> => {
    const {text} = await new Api(server.handler).get('/metrics')
    const found = text.split('\n').find((one) => one.startsWith(`${line} `))
    assert.ok(found, `there is no ${line}`)
    return Number(found.slice(line.length + 1))
  }
  const closed = (outcome: string) =>
    read(`trustadm_limited_connections_total{outcome="closed-${outcome}"}`)

  it('begin with zero, and count connections that are closed for others', async () => {
    assert.deepEqual([await closed('unused'), await read('trustadm_open_connections')], [0, 0])
    const sockets = []
    for (let count = 0; count < 6; count++) sockets.push(await rawConnection(server))
    assert.ok((await closed('unused')) > 0)
    for (const socket of sockets) socket.destroy()
    await until(async () => (await read('trustadm_open_connections')) === 0)
  })

  it('count watches that are ended for others', async () => {
    const sessions: ClientHttp2Session[] = []
    const watch = async (name: string, count: number) => {
      const credentials = await server.credentialsFor(`system:node:${name}`, ['system:nodes'])
      const session = await session2(server, credentials)
      sessions.push(session)
      for (let number = 0; number < count; number++) {
        const stream = session.request({':path': WATCH})
        stream.on('error', () => undefined).resume()
        await new Promise((resolve) => stream.on('response', resolve))
      }
    }
    assert.equal(await read('trustadm_reclaimed_watches_total'), 0)
    assert.equal(await read('trustadm_rejected_requests_total{reason="watches"}'), 0)
    await watch('greedy', 4)
    await watch('modest', 1)
    assert.equal(await read('trustadm_reclaimed_watches_total'), 1)
    for (const session of sessions) session.destroy()
  })
})
