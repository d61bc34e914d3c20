import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {machinesWhereServed} from '../../../src/controllers/approval/optional-apis.ts'
import {TrustError, type ErrorCode} from '../../../src/errors.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'

describe('machinesWhereServed', () => {
  let server: TestServer
  let admin: ApiClient

  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    await admin.machines.create({metadata: {name: 'm', namespace: 'default'}})
  })
  after(() => server.stop())

  const failing = (code: ErrorCode) => () => Promise.reject(new TrustError(code, 'no'))
  const failingWith = (list: ErrorCode, discovery?: ErrorCode) =>
    machinesWhereServed({
      machines: {...admin.machines, list: failing(list)},
      raw: discovery === undefined ? admin.raw : failing(discovery),
    })

  it('lists what there is', async () => {
    const {items} = await machinesWhereServed(admin).list()
    assert.deepEqual(
      items.map(({metadata}) => metadata.name),
      ['m'],
    )
  })

  it('has none if the API does not exist', async () => {
    assert.deepEqual((await failingWith('NOT_FOUND').list()).items, [])
  })

  it('has none if the API does not exist, and the server says "forbidden" of what it does not have', async () => {
    assert.deepEqual((await failingWith('FORBIDDEN', 'NOT_FOUND').list()).items, [])
  })

  it('fails where there are Machines that may not be read', async () => {
    await assert.rejects(failingWith('FORBIDDEN').list(), {code: 'FORBIDDEN'})
    const stranger = server.clientAs({username: 'ann', groups: ['system:authenticated']})
    await assert.rejects(machinesWhereServed(stranger).list(), {code: 'FORBIDDEN'})
  })

  it('fails where nobody can tell', async () => {
    await assert.rejects(failingWith('FORBIDDEN', 'FORBIDDEN').list(), {code: 'FORBIDDEN'})
    await assert.rejects(failingWith('SERVER_UNREACHABLE').list(), {code: 'SERVER_UNREACHABLE'})
  })
})
