import assert from 'node:assert/strict'
import {openMemoryStorage} from '../../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {CSRS, HttpApi, allow, condition, csrObject, ed25519Request, encoded} from './support.ts'

const LIMIT = 500

describe('requests that nobody has decided on', () => {
  const storage = openMemoryStorage()
  const request = encoded(ed25519Request())
  let server: TestServer
  let api: HttpApi
  const start = async () => {
    server = await startTestServer({controllers: false, storage})
    api = new HttpApi(server, await server.credentialsFor('admin', ['system:masters']))
  }
  const stop = async () => {
    api.close()
    await server.close(1000)
  }
  const ask = (user: string) => api.post(CSRS, csrObject({request}), {as: {user}})

  before(async () => {
    await start()
    for (const user of ['ann', 'bob'])
      await allow(api, user, user, {verbs: ['create'], resources: ['certificatesigningrequests']})
    for (let count = 0; count < LIMIT; count += 1)
      await api.make(CSRS, csrObject({request}), {as: {user: 'ann'}})
  })
  after(async () => {
    await stop()
    await storage.close()
  })

  const assertFull = async (user: string) => {
    const {status, headers, body} = await ask(user)
    assert.equal(status, 429)
    assert.equal(headers['retry-after'], '30')
    assert.equal(body.reason, 'TooManyRequests')
    assert.match(body.message, /^500 certificate signing requests of "ann" are pending/)
  }
  const pendingOf = async (user: string) =>
    (await api.get(CSRS)).body.items.filter(
      ({spec, status}) => spec.username === user && status.conditions === undefined,
    )

  it('keep their requester from making more, and nobody else', async () => {
    await assertFull('ann')
    assert.equal((await ask('bob')).status, 201)
    assert.equal((await ask('admin')).status, 403)
    assert.equal((await api.post(CSRS, csrObject({request}))).status, 201)
  })

  it('are still counted after a restart', async () => {
    await stop()
    await start()
    await assertFull('ann')
  })

  for (const type of ['Approved', 'Denied', 'Failed']) {
    it(`make room once one is ${type}`, async () => {
      const [first] = await pendingOf('ann')
      const path = `${CSRS}/${first?.metadata.name ?? ''}/approval`
      const answer = await api.patch(path, {status: {conditions: [condition(type)]}})
      assert.equal(answer.status, 200, answer.text)
      assert.equal((await ask('ann')).status, 201)
      await assertFull('ann')
    })
  }

  it('make room once one is deleted', async () => {
    const [first] = await pendingOf('ann')
    await api.delete(`${CSRS}/${first?.metadata.name ?? ''}`)
    assert.equal((await ask('ann')).status, 201)
    await assertFull('ann')
  })

  it('hold nobody back who may delete them', async () => {
    await allow(api, 'ann-deletes', 'ann', {
      verbs: ['delete'],
      resources: ['certificatesigningrequests'],
    })
    assert.equal((await ask('ann')).status, 201)
  })
})

describe('certificate requests that were decided', () => {
  it('still count, so that one token cannot have itself issued any number of certificates', async () => {
    const server = await startTestServer({
      controllers: false,
      limits: {certificateRequestsPerHour: 20},
    })
    const api = new HttpApi(server, await server.credentialsFor('admin', ['system:masters']))
    const token = {user: 'system:bootstrap:abcdef', groups: ['system:bootstrappers']}
    const verbs = ['create', 'get', 'list']
    await allow(api, 'token', token.user, {verbs, resources: ['certificatesigningrequests']})
    const request = encoded(ed25519Request())
    const codes: number[] = []
    for (let count = 0; count < 30; count += 1) {
      const {status, headers, body} = await api.post(CSRS, csrObject({request}), {as: token})
      codes.push(status)
      if (status === 201) {
        const conditions = [condition('Approved')]
        await api.patch(`${CSRS}/${body.metadata.name}/approval`, {status: {conditions}})
      } else {
        assert.equal(headers['retry-after'], '60')
        assert.match(body.message, /^"system:bootstrap:abcdef" has made 20 certificate signing/)
      }
    }
    assert.deepEqual(codes, [...Array<number>(20).fill(201), ...Array<number>(10).fill(429)])
    api.close()
    await server.stop()
  })
})
