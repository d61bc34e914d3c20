import assert from 'node:assert/strict'
import {connectTo} from '../../src/client/connect.ts'
import {TrustError} from '../../src/errors.ts'
import {serverHealth, Wait} from '../../src/node/failures.ts'
import {issue, makeAuthority, type TestAuthority} from '../client/support/certificates.ts'
import {status} from '../client/support/fake-api.ts'
import {Cleanup, serveTls} from '../client/support/servers.ts'

describe('the health of a server, from how a request failed', () => {
  const cleanup = new Cleanup()
  let authority: TestAuthority
  before(async () => {
    authority = await makeAuthority()
  })
  afterEach(() => cleanup.run())

  /** How a create fails at a server that gives this answer to everything. */
  async function failure(code: number, body: string): Promise<unknown> {
    const server = cleanup.add(
      await serveTls(await issue(authority), (_request, response) => {
        response.writeHead(code, {'content-type': 'application/json'}).end(body)
      }),
    )
    const client = connectTo({server: server.url, ca: authority.pem}, {retry: {attempts: 1}})
    try {
      return await client.csrs
        .create({metadata: {name: 'a'}, spec: {request: '', signerName: 'a/b', usages: []}})
        .then(() => assert.fail('it succeeded'))
        .catch((error: unknown) => error)
    } finally {
      await client.close()
    }
  }
  const structured = (code: number, reason: string) =>
    JSON.stringify(status(code, reason, 'because'))

  for (const [what, code, body, expected] of [
    ['401', 401, structured(401, 'Unauthorized'), true],
    ['401 of a proxy', 401, '<h1>log in</h1>', true],
    ['a structured 403', 403, structured(403, 'Forbidden'), true],
    ['a structured 404', 404, structured(404, 'NotFound'), true],
    ['a structured 429', 429, structured(429, 'TooManyRequests'), true],
    ['a 404 that is not structured', 404, 'not found', false],
    ['a 403 that is not structured', 403, '{}', false],
    ['a redirect', 302, '', false],
    ['a success that is not structured', 200, 'hello', false],
    ['a generic error', 500, 'oops', false],
    ['an internal error', 500, structured(500, 'InternalError'), false],
    ['an overloaded server', 503, structured(503, 'ServiceUnavailable'), false],
  ] as const) {
    it(`is ${expected ? 'good' : 'bad'} after ${what}`, async () => {
      assert.equal(serverHealth(await failure(code, body)), expected)
    })
  }

  it('is bad if nothing answers, or nothing that the CAs verify', async () => {
    const stranger = await makeAuthority('stranger')
    const server = cleanup.add(await serveTls(await issue(stranger), () => undefined))
    const failed = async (url: string) => {
      const client = connectTo({server: url, ca: authority.pem}, {retry: {attempts: 1}})
      const error: unknown = await client.csrs.list().catch((one: unknown) => one)
      await client.close()
      return serverHealth(error)
    }
    assert.equal(await failed(server.url), false)
    await server.stop()
    assert.equal(await failed(server.url), false)
  })

  it('is good if the server has decided on the request', () => {
    assert.equal(serverHealth(new TrustError('CERTIFICATE_DENIED', 'no')), true)
    assert.equal(serverHealth(new TrustError('CERTIFICATE_PENDING', 'not yet')), true)
  })

  it('is not known after a failure of this machine', () => {
    assert.equal(serverHealth(new TrustError('FILE_UNWRITABLE', 'the disk is full')), undefined)
    assert.equal(serverHealth(new Error('a bug')), undefined)
  })
})

const YEAR = 365 * 24 * 3_600_000

describe('a wait', () => {
  let now: number
  let wait: Wait
  beforeEach(() => {
    now = new Date('2026-06-01T00:00:00Z').getTime()
    wait = new Wait({now: () => new Date(now)})
  })
  const left = () => wait.until.getTime() - now

  it('is over before it was started, and once it was ended', () => {
    assert.equal(wait.until.getTime(), 0)
    wait.start(1000)
    wait.end()
    assert.equal(wait.until.getTime(), 0)
  })

  it('lasts as long as was asked for', () => {
    wait.start(1000)
    assert.equal(left(), 1000)
    now += 1000
    assert.equal(left(), 0)
  })

  it('does not become longer because the clock was set back, and comes to an end', () => {
    wait.start(1000)
    now -= YEAR
    assert.equal(left(), 1000)
    now += 1000
    assert.equal(left(), 0)
  })
})
