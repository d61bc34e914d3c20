import assert from 'node:assert/strict'
import {connectionError} from '../../src/client/connection-errors.ts'
import {RetryingTransport} from '../../src/client/retries.ts'
import {FakeTransport} from './support/fake-transport.ts'

const QUICK = {base: 1, max: 2, attempts: 3, longestWait: 5000}

function failure(code: string): Error {
  return connectionError(Object.assign(new Error(code), {code}), 'https://server')
}

async function attemptsAt(
  method: string,
  outcome: Error | {status: number; headers?: Record<string, string>},
): Promise<number> {
  const inner = new FakeTransport(() =>
    outcome instanceof Error ? outcome : {...outcome, json: {}},
  )
  const transport = new RetryingTransport(inner, QUICK)
  await transport.request({method, path: '/'}).catch(() => undefined)
  return inner.requests.length
}

const soon = {'retry-after': '0'}

describe('RetryingTransport', () => {
  const again: [string, string, Parameters<typeof attemptsAt>[1]][] = [
    ['a read after a cut', 'GET', failure('ECONNRESET')],
    ['a read when nothing listens', 'GET', failure('ECONNREFUSED')],
    ['a read when told 429 with Retry-After', 'GET', {status: 429, headers: soon}],
    ['a read when told 503 with Retry-After', 'GET', {status: 503, headers: soon}],
    ['a write when told 429 with Retry-After', 'POST', {status: 429, headers: soon}],
    ['a write when nothing was sent', 'PUT', failure('ECONNREFUSED')],
  ]
  for (const [name, method, outcome] of again) {
    it(`repeats ${name}, up to its limit`, async () => {
      assert.equal(await attemptsAt(method, outcome), 3)
    })
  }

  const once: typeof again = [
    ['a create after a cut', 'POST', failure('ECONNRESET')],
    ['a delete after a cut', 'DELETE', failure('UND_ERR_SOCKET')],
    ['a write when told 503 with Retry-After', 'POST', {status: 503, headers: soon}],
    ['a write when told 429 without Retry-After', 'POST', {status: 429}],
    ['a read when told 500 without Retry-After', 'GET', {status: 500}],
    [
      'a read when the server asks for an hour',
      'GET',
      {status: 429, headers: {'retry-after': '3600'}},
    ],
    [
      'a read when Retry-After makes no sense',
      'GET',
      {status: 429, headers: {'retry-after': '-1'}},
    ],
    ['a read when the server is not trusted', 'GET', failure('CERT_HAS_EXPIRED')],
    ['a read that is refused', 'GET', {status: 403, headers: soon}],
  ]
  for (const [name, method, outcome] of once) {
    it(`does not repeat ${name}`, async () => {
      assert.equal(await attemptsAt(method, outcome), 1)
    })
  }

  it('gives the answer of the attempt that succeeds', async () => {
    const inner = new FakeTransport((_request, attempt) =>
      attempt < 3 ? failure('ECONNRESET') : {json: 'done'},
    )
    const {body} = await new RetryingTransport(inner, QUICK).request({method: 'GET', path: '/'})
    assert.equal(Buffer.from(body).toString(), '"done"')
  })

  it('waits as long as the server asks', async () => {
    const inner = new FakeTransport((_request, attempt) =>
      attempt === 1 ? {status: 429, headers: {'retry-after': '1'}, json: {}} : {json: {}},
    )
    const waits: number[] = []
    const sleep = (milliseconds: number) => Promise.resolve(void waits.push(milliseconds))
    await new RetryingTransport(inner, {...QUICK, sleep}).request({method: 'GET', path: '/'})
    assert.deepEqual(waits, [1000])
  })

  it('stops waiting when the caller does', async () => {
    const reason = new Error('enough')
    const stop = new AbortController()
    const inner = new FakeTransport(() => {
      // By then it waits for the next attempt.
      setImmediate(() => stop.abort(reason))
      return failure('ECONNREFUSED')
    })
    const transport = new RetryingTransport(inner, {base: 60_000, max: 60_000})
    await assert.rejects(transport.request({method: 'GET', path: '/', signal: stop.signal}), reason)
  })

  it('lets go of a refused stream before it asks again', async () => {
    const inner = new FakeTransport((_request, attempt) =>
      attempt === 1 ? {status: 429, headers: soon, json: {}} : {json: {}},
    )
    const {status} = await new RetryingTransport(inner, QUICK).stream({method: 'GET', path: '/'})
    assert.deepEqual([status, inner.closedStreams], [200, 1])
  })
})
