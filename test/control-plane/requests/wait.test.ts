import assert from 'node:assert/strict'
import {setTimeout as sleep} from 'node:timers/promises'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {waitForCertificate} from '../../../src/control-plane/requests/wait.ts'
import {isIssued} from '../../../src/csr/conditions.ts'
import {TrustError} from '../../../src/errors.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {addCondition, makeRequest, signRequest} from './support.ts'

describe('waiting for a certificate', () => {
  let server: TestServer
  let admin: ApiClient
  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
  })
  after(() => server.stop())
  afterEach(() => admin.csrs.deleteCollection({}))

  const sign = async (name: string) => {
    await addCondition(admin, name, 'Approved')
    await signRequest(admin, server.issuer, name)
  }

  it('ends when it is issued, and tells once that somebody has to approve it', async () => {
    await makeRequest(admin, {name: 'a'})
    let told = 0
    const onPending = () => {
      told += 1
      void sign('a')
    }
    const csr = await waitForCertificate(admin, 'a', {timeout: 0, onPending})
    assert.ok(isIssued(csr))
    assert.equal(told, 1)
  })

  it('looks now and then where the caller may not watch', async () => {
    await makeRequest(admin, {name: 'a'})
    const refusal = new TrustError('FORBIDDEN', 'you may not watch')
    const csrs: ApiClient['csrs'] = Object.create(admin.csrs, {
      get: {value: (name: {name: string}) => admin.csrs.get(name)},
      watch: {
        value: () => {
          throw refusal
        },
      },
    }) as ApiClient['csrs']
    const onPending = () => void sign('a')
    assert.ok(isIssued(await waitForCertificate({csrs}, 'a', {timeout: 0, onPending})))
  })

  it('goes on after the server cut the watch', async () => {
    await makeRequest(admin, {name: 'a'})
    let cuts = 0
    const csrs: ApiClient['csrs'] = Object.create(admin.csrs, {
      get: {value: (name: {name: string}) => admin.csrs.get(name)},
      watch: {
        value: () => {
          cuts += 1
          if (cuts === 2) void sign('a')
          throw new TrustError('SERVER_UNREACHABLE', 'cut', {facts: {systemCode: 'ECONNRESET'}})
        },
      },
    }) as ApiClient['csrs']
    assert.ok(isIssued(await waitForCertificate({csrs}, 'a', {timeout: 0})))
    assert.ok(cuts >= 2)
  })

  it('says so where the request is deleted', async () => {
    await makeRequest(admin, {name: 'a'})
    const onPending = () => void sleep(20).then(() => admin.csrs.delete({name: 'a'}))
    await assert.rejects(waitForCertificate(admin, 'a', {timeout: 0, onPending}), {
      code: 'NOT_FOUND',
    })
  })

  it('says that nobody signs where it was approved and time is over', async () => {
    await makeRequest(admin, {name: 'a'})
    await addCondition(admin, 'a', 'Approved')
    await assert.rejects(waitForCertificate(admin, 'a', {timeout: 50}), {
      code: 'CERTIFICATE_PENDING',
      message: /is approved, but its signer has not signed it yet/,
    })
  })

  it('tells at once of a server that is not there', async () => {
    const gone = new TrustError('SERVER_UNREACHABLE', 'gone')
    const csrs = {get: () => Promise.reject(gone)} as unknown as ApiClient['csrs']
    await assert.rejects(waitForCertificate({csrs}, 'a', {timeout: 0}), gone)
  })
})
