import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {writeDecision} from '../../../src/controllers/kernel/write-outcome.ts'
import {findCondition} from '../../../src/csr/conditions.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {submit} from '../approval/support.ts'

const APPROVAL = {type: 'Approved', reason: 'Test', message: 'by a test'} as const

describe('writeDecision', () => {
  let server: TestServer
  let admin: ApiClient
  let count = 0

  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
  })
  after(() => server.stop())

  const made = () => submit(admin, {name: `d${++count}`})

  it('decides on a request that was changed since it was read', async () => {
    const csr = await made()
    const {name = ''} = csr.metadata
    await admin.csrs.patch(name, {metadata: {labels: {a: 'b'}}}, {type: 'merge'})
    assert.equal(await writeDecision(admin, csr, APPROVAL), true)
    const now = await admin.csrs.get(name)
    assert.equal(findCondition(now, 'Approved')?.message, 'by a test')
    assert.deepEqual(now.metadata.labels, {a: 'b'})
  })

  it('leaves a decision alone that was made meanwhile', async () => {
    const csr = await made()
    await writeDecision(admin, csr, {...APPROVAL, type: 'Denied'})
    assert.equal(await writeDecision(admin, csr, APPROVAL), false)
    const now = await admin.csrs.get(csr.metadata.name ?? '')
    assert.equal(findCondition(now, 'Approved'), undefined)
  })

  it('does not decide on what was deleted, nor on what was made anew by that name', async () => {
    const csr = await made()
    const {name = ''} = csr.metadata
    await admin.csrs.delete(name)
    assert.equal(await writeDecision(admin, csr, APPROVAL), false)
    await submit(admin, {name})
    assert.equal(await writeDecision(admin, csr, APPROVAL), false)
    assert.equal(findCondition(await admin.csrs.get(name), 'Approved'), undefined)
  })
})
