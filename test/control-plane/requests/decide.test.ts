import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {decide, decideAll, failureOf} from '../../../src/control-plane/requests/decide.ts'
import {TrustError} from '../../../src/errors.ts'
import {systemClock} from '../../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {addCondition, makeRequest} from './support.ts'

type Csr = CertificateSigningRequest

const APPROVE = {decision: 'approve'} as const

/** A server on which somebody else writes before each of our first writes. */
function busyServer(conflicts: number) {
  const asked = {gets: 0, puts: 0}
  const csr: Csr = {metadata: {name: 'a', uid: '1'}, spec: {request: '', signerName: 'a.b/c'}}
  const csrs = {
    get: () => {
      asked.gets += 1
      return Promise.resolve(csr)
    },
    updateSubresource: (_: string, object: Csr) => {
      asked.puts += 1
      return asked.puts <= conflicts
        ? Promise.reject(new TrustError('CONFLICT', 'changed'))
        : Promise.resolve(object)
    },
  } as unknown as ApiClient['csrs']
  return {client: {csrs}, asked}
}

describe('decide', () => {
  it('reads again after a conflict, as kubectl does', async () => {
    const {client, asked} = busyServer(9)
    const {changed} = await decide(client, {name: 'a'}, APPROVE, systemClock)
    assert.equal(changed, true)
    assert.deepEqual(asked, {gets: 10, puts: 10})
  })

  it('gives up after ten conflicts', async () => {
    const {client, asked} = busyServer(Infinity)
    await assert.rejects(decide(client, {name: 'a'}, APPROVE, systemClock), {code: 'CONFLICT'})
    assert.equal(asked.puts, 10)
  })

  it('stops asking a server that is gone', async () => {
    const error = new TrustError('SERVER_UNREACHABLE', 'gone')
    const csrs = {get: () => Promise.reject(error)} as unknown as ApiClient['csrs']
    const targets = [{name: 'a'}, {name: 'b'}]
    const result = await decideAll({csrs}, targets, APPROVE, systemClock)
    assert.equal(result.failed.length, 1)
    assert.equal(failureOf(result)?.code, 'SERVER_UNREACHABLE')
  })

  describe('on a server', () => {
    let server: TestServer
    before(async () => {
      server = await startTestServer({controllers: false})
    })
    after(() => server.stop())

    it('leaves a request alone that took the name of the one that was looked at', async () => {
      const admin = server.clientAs(ADMIN)
      const {metadata} = await makeRequest(admin, {name: 'a'})
      await admin.csrs.delete({name: 'a'})
      await makeRequest(admin, {name: 'a', commonName: 'eve'})
      const target = {name: 'a', uid: metadata.uid}
      await assert.rejects(decide(admin, target, APPROVE, systemClock), {
        code: 'CONFLICT',
        message: /was replaced by another one/,
      })
      assert.deepEqual((await admin.csrs.get({name: 'a'})).status, {})
    })

    it('keeps conditions of other kinds', async () => {
      const admin = server.clientAs(ADMIN)
      await makeRequest(admin, {name: 'b'})
      await addCondition(admin, 'b', 'Failed')
      await decide(admin, {name: 'b'}, APPROVE, systemClock)
      const {status} = await admin.csrs.get({name: 'b'})
      assert.deepEqual(
        status?.conditions?.map(({type}) => type),
        ['Failed', 'Approved'],
      )
    })
  })
})

describe('the failure of several decisions', () => {
  const failed = (name: string, code: 'NOT_FOUND' | 'ALREADY_DECIDED' | 'FORBIDDEN') => ({
    name,
    code,
    message: `${name} failed`,
    hints: ['look'],
  })
  const result = (...failures: ReturnType<typeof failed>[]) => ({
    requests: [],
    failed: failures,
    dryRun: false,
  })

  it('is none if none failed', () => {
    assert.equal(failureOf(result()), undefined)
  })

  it('has the exit code that all share', () => {
    const error = failureOf(result(failed('a', 'ALREADY_DECIDED'), failed('b', 'ALREADY_DECIDED')))
    assert.equal(error?.oclif.exit, 6)
    assert.match(error.message, /a failed; b failed/)
    assert.deepEqual(error.suggestions, ['look'])
  })

  it('ends with 1 where they are of several kinds', () => {
    const error = failureOf(result(failed('a', 'ALREADY_DECIDED'), failed('b', 'FORBIDDEN')))
    assert.equal(error?.oclif.exit, 1)
  })
})
