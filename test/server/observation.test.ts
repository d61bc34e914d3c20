import assert from 'node:assert/strict'
import {TrustError} from '../../src/errors.ts'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../helpers/test-server.ts'
import {Api} from './support.ts'

describe('the health of a server', () => {
  let failure: Error | undefined
  let server: TestServer
  let api: Api
  const storage = openMemoryStorage()
  const {check} = storage
  storage.check = async () => {
    await check.call(storage)
    if (failure) throw failure
  }
  const statuses = () =>
    Promise.all(['/livez', '/healthz', '/readyz'].map(async (path) => (await api.get(path)).status))

  before(async () => {
    server = await startTestServer({storage, controllers: false})
    api = new Api(server.handler)
  })
  after(() => server.stop())
  beforeEach(() => (failure = undefined))

  it('is good while the store accepts writes', async () => {
    assert.deepEqual(await statuses(), [200, 200, 200])
  })

  it('is not ready but alive if the store cannot write: a restart does not help', async () => {
    failure = new TrustError('STORE_WRITE_FAILED', 'the store cannot write: the disk is full')
    assert.deepEqual(await statuses(), [200, 200, 500])
    assert.match((await api.get('/readyz/storage')).text, /the disk is full/)
  })

  it('is bad if the store does not respond as it should', async () => {
    failure = new TrustError('STORE_CLOSED', 'the store is closed')
    assert.deepEqual(await statuses(), [500, 500, 500])
  })
})
